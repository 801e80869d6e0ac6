/**
 * What a spill is: every promise of the spill port as a check. Passing the suite is what it means to be one.
 *
 * Guarantees: each check works on a spill of its own.
 * Does not ask how long a text is kept: that is the host's decision.
 */
import assert from "node:assert/strict"
import type { Spill } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { ConformanceCheck } from "./Conformance.js"

/** A spill that was opened for one check, empty. */
export interface OpenedSpill {
  readonly spill: Spill.Spill
  /** Opens the same texts again. Absent where nothing outlives the process. */
  readonly reopen?: () => Promise<Spill.Spill>
  /** Called when the check is over. */
  readonly close?: () => Promise<void>
}

export interface SpillSubject {
  readonly open: () => Promise<OpenedSpill> | OpenedSpill
}

const text = `first line\n\u0000 "\\ \u2028 𐌀🔧 é e\u0301\nlast line`

export const spillConformance = (subject: SpillSubject): ReadonlyArray<ConformanceCheck> => {
  const check = (title: string, tell: (world: OpenedSpill) => Promise<void>): ConformanceCheck => ({
    title,
    run: async () => {
      const opened = await subject.open()
      try {
        await tell(opened)
      } finally {
        await opened.close?.()
      }
    }
  })
  return [
    check("[T10] a text comes back as it was, to the last character", async ({ spill }) => {
      for (const [index, one] of [text, "", "\ud800 alone", "long ".repeat(100_000)].entries()) {
        const reference = await value(spill.put(`run/1/${index}`, one))
        assert.equal(await value(spill.get(reference)), one)
      }
    }),

    check("[T10] a range is what `slice` gives of the text", async ({ spill }) => {
      const reference = await value(spill.put("run/1/0", text))
      const length = text.length
      for (const [start, end] of [
        [0, 5],
        [3, 3],
        [5, 3],
        [0, length],
        [length - 4, length + 100],
        [length, length + 1],
        [-9, length],
        [0, -5],
        [17, 18]
      ] as const)
        assert.equal(await value(spill.get(reference, { start, end })), text.slice(start, end), `${start} to ${end}`)
    }),

    check(
      "[T10] an operation's text is kept once: putting again gives the same reference to the first",
      async (world) => {
        const { spill } = world
        const references = [await value(spill.put("run/1/0", text)), await value(spill.put("run/1/0", "another"))]
        assert.equal(references[0], references[1])
        assert.equal(await value(spill.get(references[0] ?? "")), text)
      }
    ),

    check(
      "[T10] of puts of one operation at the same time one text stays, and nobody ever reads another",
      async (world) => {
        // Of very different lengths, so that the short ones are read while the long ones are still on their way.
        const texts = Array.from({ length: 7 }, (_, index) => `${index}`.repeat(10 ** index))
        const read = await Promise.all(
          texts.map(async (one) => value(world.spill.get(await value(world.spill.put("run/1/0", one)))))
        )
        assert.equal(new Set(read).size, 1)
        assert.ok(texts.includes(read[0] ?? ""))
      }
    ),

    check("[T10] texts of different operations do not touch", async ({ spill }) => {
      const ids = ["run/1/0", "run/1/1", "RUN/1/0", "run/1/0 ", "../run/1/0"]
      const references = await Promise.all(ids.map((id) => value(spill.put(id, `text of ${id}`))))
      const texts = await Promise.all(references.map((reference) => value(spill.get(reference))))
      assert.deepEqual(
        texts,
        ids.map((id) => `text of ${id}`)
      )
    }),

    check("[T10] a reference that nobody gave out is unknown, whatever it looks like", async ({ spill }) => {
      const known = await value(spill.put("run/1/0", text))
      for (const reference of ["", "spill:", `${known}0`, known.slice(1), "/etc/passwd", "spill:../../etc/passwd"])
        assert.equal(await value(spill.get(reference)), undefined, reference)
    }),

    check("[T10] a text outlives the handle that put it, where it outlives the process", async (world) => {
      const reference = await value(world.spill.put("run/1/0", text))
      if (world.reopen === undefined) return
      assert.equal(await value((await world.reopen()).get(reference)), text)
    })
  ]
}

const value = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
