/**
 * The current date and time, in any time zone of the IANA database.
 *
 * Guarantees: time comes from the clock it is given; a zone that does not exist is `InvalidArguments` with the names that
 * were most likely meant.
 * Does not calculate with dates.
 */
import { RuntimeClock, Tool, ToolArgs } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { zonedTime } from "./internal/zonedTime.js"

/** Needs nothing to be described; `currentTime()` makes it executable. */
export const CurrentTime = Tool.define({
  id: "current_time",
  description: "Return the current date, time and weekday in one time zone.",
  args: Type.Object({
    timeZone: Type.String({
      default: "UTC",
      minLength: 1,
      maxLength: 100,
      description: "A name of the IANA time zone database, such as Europe/Lisbon or America/New_York"
    })
  }),
  output: Type.Object({
    iso: Type.String({ description: "ISO 8601 with the offset from UTC, to the second" }),
    timeZone: Type.String(),
    utcOffset: Type.String({ description: "For example +01:00" }),
    date: Type.String({ description: "YYYY-MM-DD" }),
    time: Type.String({ description: "HH:MM:SS, 24 hours" }),
    weekday: Type.String({ description: "In English" }),
    unixMilliseconds: Type.Integer()
  }),
  recovery: "ReplaySafe",
  attribution: { provenance: "Native" }
})

/** The tool over a clock; by default the system's. */
export const currentTime = (
  clock: Pick<RuntimeClock.RuntimeClock, "now"> = RuntimeClock.system
): Tool.Tool<"current_time", typeof CurrentTime.args, typeof CurrentTime.output> =>
  Tool.implement(CurrentTime, ({ timeZone }) => {
    const zoned = zonedTime(clock.now(), timeZone)
    if (zoned !== undefined) return zoned
    const near = zonesNear(timeZone)
    throw ToolArgs.invalidArguments(CurrentTime.id, [
      {
        pointer: "/timeZone",
        expected: "a name of the IANA time zone database, such as Europe/Lisbon",
        received: JSON.stringify(timeZone),
        ...(near.length === 0 ? {} : { fix: `did you mean ${near.join(" or ")}` })
      }
    ])
  })

let zones: ReadonlyArray<string> | undefined

/** About 400 names; asked for at the first wrong one. */
const knownZones = (): ReadonlyArray<string> => (zones ??= ["UTC", ...Intl.supportedValuesOf("timeZone")])

/** People know the city and seldom the region: the last parts are compared, with those that begin alike. */
const zonesNear = (timeZone: string): ReadonlyArray<string> => {
  const wanted = placeOf(timeZone)
  const alike = knownZones().filter((zone) => placeOf(zone).charAt(0).toLowerCase() === wanted.charAt(0).toLowerCase())
  const meant = ToolArgs.nearestName(wanted, [...new Set(alike.map(placeOf))])
  return meant === undefined ? [] : alike.filter((zone) => placeOf(zone) === meant).slice(0, 3)
}

const placeOf = (zone: string): string => zone.slice(zone.lastIndexOf("/") + 1)
