import { Type } from "typebox"
import { describe, expect, it } from "vitest"
import { type Message, Tool, ToolRendering } from "../src/index.js"

const { outputOf } = ToolRendering

const specOf = (output: Type.TSchema): ReturnType<typeof Tool.define>["spec"] =>
  Tool.define({ id: "count", description: "Count", args: Type.Object({}), output }).spec

const counted = specOf(Type.Object({ n: Type.Number() }, { additionalProperties: false }))
const plain = Tool.define({ id: "count", description: "Count", args: Type.Object({}) }).spec

describe("the output of a call that returned", () => {
  it("[T9] a value that fits is carried as data beside the text", () => {
    expect(outputOf(counted, { callId: "c1", value: { n: 1 } })).toEqual({
      callId: "c1",
      content: [{ type: "text", text: '{"n":1}' }],
      isError: false,
      data: { n: 1 },
      state: []
    })
  })

  it("[T9] data is a frozen copy: what the tool does with its object later does not matter", () => {
    const value = { n: 1 }
    const output = outputOf(counted, { callId: "c1", value })
    value.n = 2
    expect(output.data).toEqual({ n: 1 })
    expect(Object.isFrozen(output.data)).toBe(true)
  })

  // C049
  it.each<[string, unknown, string]>([
    [
      "a wrong type",
      { n: "1" },
      'The call completed, but its output could not be read (at /n: expected a number, received the string "1"). Do not repeat it for that reason.\nWhat it returned: {"n":"1"}'
    ],
    [
      "nothing",
      undefined,
      "The call completed, but its output could not be read (expected a value, received nothing). Do not repeat it for that reason.\nWhat it returned: (no output)"
    ]
  ])(
    "[T9] %s is completed with an output that could not be read, and the original text is there",
    (_name, value, text) => {
      expect(outputOf(counted, { callId: "c1", value })).toEqual({
        callId: "c1",
        content: [{ type: "text", text }],
        isError: true,
        state: []
      })
    }
  )

  it("[T9] a value without a full JSON form is no data, even where the schema would take the note", () => {
    const anything = specOf(Type.Object({ v: Type.Unknown() }))
    const output = outputOf(anything, { callId: "c1", value: { v: () => 1 } })
    expect(output.data).toBeUndefined()
    expect(output.isError).toBe(true)
  })

  it("[T9] a string output is bare text and a string as data", () => {
    expect(outputOf(specOf(Type.String()), { callId: "c1", value: "18" })).toEqual({
      callId: "c1",
      content: [{ type: "text", text: "18" }],
      isError: false,
      data: "18",
      state: []
    })
  })

  it("[T9] without an output schema there is no data", () => {
    expect(outputOf(plain, { callId: "c1", value: { n: 1 } })).toEqual({
      callId: "c1",
      content: [{ type: "text", text: '{"n":1}' }],
      isError: false,
      state: []
    })
  })

  // C047
  it("[T10] content stands in place of the value's text, so that an image is not sent again as text", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const
    expect(
      outputOf(specOf(Type.Object({ bytes: Type.String() })), {
        callId: "c1",
        value: { bytes: "QUJD" },
        content: [image]
      })
    ).toEqual({
      callId: "c1",
      content: [image],
      isError: false,
      data: { bytes: "QUJD" },
      state: []
    })
  })

  it("[T10] blank text blocks become the placeholder", () => {
    const output = outputOf(plain, { callId: "c1", value: undefined, content: [{ type: "text", text: " " }] })
    expect(output.content).toEqual([{ type: "text", text: "(empty text)" }])
  })

  it("[T9] content that is none is an output that could not be read", () => {
    const bad: ReadonlyArray<Message.ContentBlock> = [{ type: "image", mediaType: "image/png", data: "not base64" }]
    const output = outputOf(plain, { callId: "c1", value: "done", content: bad })
    expect(output.content).toEqual([
      {
        type: "text",
        text: "The call completed, but its output could not be read (at /content/0: expected a text block, or an image or file block with mediaType and base64 data, received an object with keys type, mediaType, data). Do not repeat it for that reason.\nWhat it returned: done"
      }
    ])
    expect(output.isError).toBe(true)
  })
})
