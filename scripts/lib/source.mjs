// Splits TypeScript text into code and prose (comments and string literals) without a compiler, which TypeScript 7 does
// not offer. Both results have the length and the lines of the input; what does not belong is blank. A regular
// expression is told from a division by what stands before it, which is right for formatted code.

const beforeRegex = /(?:^|[([{,;=:!&|?+\-*%<>~^]|\b(?:return|typeof|case|in|of|yield|await|void|delete|throw))\s*$/

export const split = (source) => {
  const code =
    [...source].length === source.length ? source.split("") : Array.from({ length: source.length }, (_, i) => source[i])
  const prose = code.map((char) => (char === "\n" ? "\n" : " "))
  const move = (from, to) => {
    for (let i = from; i < to; i++) {
      prose[i] = source[i]
      if (source[i] !== "\n") code[i] = " "
    }
  }
  const endOfQuoted = (start, quote) => {
    let i = start + 1
    while (i < source.length && source[i] !== quote && source[i] !== "\n") i += source[i] === "\\" ? 2 : 1
    return Math.min(i + 1, source.length)
  }
  const endOfRegex = (start) => {
    let inClass = false
    for (let i = start + 1; i < source.length && source[i] !== "\n"; i++) {
      if (source[i] === "\\") i++
      else if (source[i] === "[") inClass = true
      else if (source[i] === "]") inClass = false
      else if (source[i] === "/" && !inClass) return i + 1
    }
    return start + 1
  }
  // each entry counts the braces open since a `${`; a closing brace at zero returns to the template
  const templates = []
  const template = (start) => {
    let i = start
    while (i < source.length) {
      if (source[i] === "\\") i += 2
      else if (source[i] === "`") {
        move(start, i + 1)
        return i + 1
      } else if (source.startsWith("${", i)) {
        move(start, i)
        templates.push(0)
        return i + 2
      } else i++
    }
    move(start, source.length)
    return source.length
  }
  let i = 0
  while (i < source.length) {
    const char = source[i]
    if (source.startsWith("//", i) || source.startsWith("/*", i)) {
      const close = source[i + 1] === "/" ? source.indexOf("\n", i) : source.indexOf("*/", i + 2) + 2
      const end = close <= 1 || close === -1 ? source.length : close
      move(i, end)
      i = end
    } else if (char === '"' || char === "'") {
      const end = endOfQuoted(i, char)
      move(i, end)
      i = end
    } else if (char === "`") {
      prose[i] = char
      i = template(i + 1)
    } else if (char === "/" && beforeRegex.test(source.slice(Math.max(0, i - 40), i))) {
      const end = endOfRegex(i)
      move(i, end)
      i = end
    } else {
      if (char === "{" && templates.length > 0) templates[templates.length - 1]++
      if (char === "}" && templates.length > 0) {
        if (templates[templates.length - 1] === 0) {
          templates.pop()
          i = template(i + 1)
          continue
        }
        templates[templates.length - 1]--
      }
      i++
    }
  }
  return { code: code.join(""), prose: prose.join("") }
}

export const lineOf = (source, index) => source.slice(0, index).split("\n").length
