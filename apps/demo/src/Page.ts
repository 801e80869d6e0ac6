/**
 * A terminal as a page: notes, lists, lines with a place and a stage, and what a person decides about.
 *
 * Guarantees: texts from outside cannot move the cursor or hide a character where somebody decides; nothing there is cut,
 * only broken; everything fits the width.
 * Does not know runs: the screen does.
 */
import { ApprovalText } from "@toolwright/permissions"
import { fit, type Ink, painter, type Painter, safe, safeLine, visibleTabs, wrap } from "./internal/paper.js"
import { placeOf } from "./internal/recordText.js"

export interface Paper {
  readonly write: (text: string) => void
  /** Columns; asked for at each line, because windows change. */
  readonly columns: () => number
  readonly color: boolean
  /** Somebody looks on: words are shown while they come. */
  readonly isLive: boolean
}

/** One line, with nothing in it that a terminal would obey. */
export interface InkedLine {
  readonly ink: Ink
  readonly text: string
}

/** Everything in a line but the text: indent, number, stage. */
const margin = 2 + 5 + 9

/** Before what somebody decides about: under the stage. */
const detailMargin = 2 + 5

/** The name of it. */
const label = 13

/** Before a line of code, which needs the room. */
const codeMargin = 4

export class Page {
  readonly #paper: Paper
  protected readonly paint: Painter
  /** The last thing that was shown is an empty line. */
  #isGap = false

  constructor(paper: Paper) {
    this.#paper = paper
    this.paint = painter(paper.color)
  }

  get isLive(): boolean {
    return this.#paper.isLive
  }

  note(text: string, ink: Ink = "dim"): void {
    for (const line of wrap(safe(text), this.width(2))) this.write(`  ${this.paint(ink, line)}\n`)
  }

  /** One line of a list. */
  item(name: string, { ink, text }: { readonly ink: Ink; readonly text: string }): void {
    const body = fit(safeLine(text), this.width(12))
    this.write(`  ${this.paint(ink, safeLine(name).padEnd(9))} ${body}\n`)
  }

  /** Names and what is said of each, wrapped beside the name. */
  items(all: ReadonlyArray<readonly [name: string, text: string]>): void {
    for (const [name, text] of all)
      wrap(safe(text), this.width(12)).forEach((line, index) => {
        const head = index === 0 ? safeLine(name) : ""
        this.write(`  ${this.paint("bold", head.padEnd(9))} ${this.paint("dim", line)}\n`)
      })
  }

  gap(): void {
    this.write("\n")
    this.#isGap = true
  }

  /** A name and a text that may have several lines, for a person who decides. */
  detail(name: string, text: string): void {
    this.lines(
      name,
      ApprovalText.show(text)
        .split("\n")
        .map((line) => ({ ink: "plain", text: line }))
    )
  }

  /** The same for lines that were made visible before. */
  lines(name: string, lines: ReadonlyArray<InkedLine>): void {
    const shown = lines.flatMap(({ ink, text }) =>
      wrap(visibleTabs(text), this.width(detailMargin + label)).map((line) => this.paint(ink, line))
    )
    shown.forEach((line, index) => {
      const head = fit(index === 0 ? name : "", label - 1).padEnd(label)
      this.write(`${" ".repeat(detailMargin)}${this.paint("dim", head)}${line}\n`)
    })
  }

  /** Lines whose first character means something, as wide as there is room; where one is broken, the rest is marked. */
  code(lines: ReadonlyArray<InkedLine>): void {
    for (const { ink, text } of lines) {
      const [first = "", ...rest] = wrap(visibleTabs(text), this.width(codeMargin + 1))
      for (const line of [first, ...rest.map((each) => `↪${each}`)])
        this.write(`${" ".repeat(codeMargin)}${this.paint(ink, line)}\n`)
    }
  }

  /** A call that somebody is asked about. */
  asked(operationId: string, text: string): void {
    this.line(placeOf(operationId), { stage: "ask", ink: "yellow", text })
  }

  /** An empty line, unless there is one. */
  protected needGap(): void {
    if (!this.#isGap) this.gap()
  }

  protected line(
    place: string,
    { stage, ink, text }: { readonly stage: string; readonly ink: Ink; readonly text: string }
  ): void {
    const body = fit(safeLine(text), this.width(margin))
    this.write(`  ${this.paint("dim", place.padEnd(5))}${this.paint(ink, stage.padEnd(9))}${body}\n`)
  }

  protected write(text: string): void {
    this.#isGap = false
    this.#paper.write(text)
  }

  protected width(taken: number): number {
    return Math.max(20, this.#paper.columns() - taken)
  }
}
