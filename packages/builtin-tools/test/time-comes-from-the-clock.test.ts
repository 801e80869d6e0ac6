import { ToolError } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { currentTime } from "../src/CurrentTime.js"
import { erase } from "../src/index.js"
import { callOf, invocation } from "./world.js"

const at = Date.UTC(2024, 1, 29, 23, 30, 5)
const tool = erase(currentTime({ now: () => at }))

const data = (args: object): unknown => {
  const output = tool.invoke(callOf(tool, args), invocation().context)
  return "data" in output ? output.data : output
}

const issueOf = (timeZone: string): unknown => {
  try {
    return data({ timeZone })
  } catch (error) {
    if (error instanceof ToolError && error.reason._tag === "InvalidArguments") return error.reason.issues[0]
    throw error
  }
}

describe("current_time", () => {
  it("[T9] is the moment of its clock, in UTC unless a zone is named", () => {
    expect(data({})).toEqual({
      iso: "2024-02-29T23:30:05+00:00",
      timeZone: "UTC",
      utcOffset: "+00:00",
      date: "2024-02-29",
      time: "23:30:05",
      weekday: "Thursday",
      unixMilliseconds: at
    })
  })

  it.each([
    ["Europe/Lisbon", "2024-02-29T23:30:05+00:00", "Thursday"],
    ["Europe/Berlin", "2024-03-01T00:30:05+01:00", "Friday"],
    ["Asia/Kolkata", "2024-03-01T05:00:05+05:30", "Friday"],
    ["America/St_Johns", "2024-02-29T20:00:05-03:30", "Thursday"],
    ["europe/berlin", "2024-03-01T00:30:05+01:00", "Friday"]
  ])("[T9] %s reads %s", (timeZone, iso, weekday) => {
    expect(data({ timeZone })).toMatchObject({ iso, weekday })
  })

  it("[T9] midnight is 00, and summer time moves the offset", () => {
    const june = erase(currentTime({ now: () => Date.UTC(2024, 5, 30, 22) }))
    const output = june.invoke(callOf(june, { timeZone: "Europe/Berlin" }), invocation().context)
    expect(output).toMatchObject({ data: { iso: "2024-07-01T00:00:00+02:00", weekday: "Monday" } })
  })

  it.each([
    ["Lisbon", "did you mean Europe/Lisbon"],
    ["Europe/Lisbonn", "did you mean Europe/Lisbon"],
    ["new york", "did you mean America/New_York"]
  ])("[T5] the zone %s is refused, with what was most likely meant", (timeZone, fix) => {
    expect(issueOf(timeZone)).toEqual({
      pointer: "/timeZone",
      expected: "a name of the IANA time zone database, such as Europe/Lisbon",
      received: JSON.stringify(timeZone),
      fix
    })
  })

  it.each(["Mars/Olympus Mons", "+01:00", "../etc/passwd", "\u0000"])(
    "[T5] the zone %j is refused without a guess",
    (timeZone) => {
      expect(issueOf(timeZone)).toEqual({
        pointer: "/timeZone",
        expected: "a name of the IANA time zone database, such as Europe/Lisbon",
        received: JSON.stringify(timeZone)
      })
    }
  )
})
