/**
 * A moment as the clocks of a time zone show it.
 *
 * Guarantees: the platform's own time zone data decides; the Gregorian calendar and Latin digits whatever the locale.
 * Does not guess a zone from abbreviations or offsets.
 */

export interface ZonedTime {
  readonly iso: string
  readonly timeZone: string
  readonly utcOffset: string
  readonly date: string
  readonly time: string
  readonly weekday: string
  readonly unixMilliseconds: number
}

/** `undefined` for a zone that the platform does not know. `at` in milliseconds since the epoch. */
export const zonedTime = (at: number, timeZone: string): ZonedTime | undefined => {
  // Offsets such as +01:00 are accepted by some platforms only.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined
  const format = formatOf(timeZone)
  if (format === undefined) return undefined
  const part = partsOf(format, at)
  const date = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`
  const time = `${part("hour")}:${part("minute")}:${part("second")}`
  const utcOffset = part("timeZoneName").replace(/^GMT$/, "GMT+00:00").slice("GMT".length)
  return {
    iso: `${date}T${time}${utcOffset}`,
    timeZone: format.resolvedOptions().timeZone,
    utcOffset,
    date,
    time,
    weekday: part("weekday"),
    unixMilliseconds: Math.floor(at)
  }
}

const formatOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      weekday: "long",
      timeZoneName: "longOffset"
    })
  } catch {
    return undefined
  }
}

const partsOf = (format: Intl.DateTimeFormat, at: number): ((type: Intl.DateTimeFormatPartTypes) => string) => {
  const parts = new Map(format.formatToParts(at).map((part) => [part.type, part.value]))
  return (type) => parts.get(type) ?? ""
}
