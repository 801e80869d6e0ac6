/**
 * Words of a command that a program may take for a path or a URL.
 *
 * Guarantees: only used to find reasons for asking; a word that is missed here is still part of its command's own rules.
 */
import { NetworkAddress } from "@toolwright/runtime-contract"
import { hole } from "./glob.js"

/** Commands that write no file that their arguments name. */
const readers: ReadonlySet<string> = new Set(
  "ls cat head tail grep rg wc stat diff cmp du df echo printf pwd which realpath readlink basename dirname true false cut tr nl".split(
    " "
  )
)

export const onlyReads = (command: string): boolean => readers.has(command)

/** The word itself, and what follows `=`, `@`, `:` or a short option. */
export const mayBePaths = (word: string): ReadonlyArray<string> => {
  const found = word.startsWith("-") ? [] : [word]
  const value = /^[^=]*=(.+)$/s.exec(word)?.[1]
  if (value !== undefined) found.push(value)
  const attached = /^-[A-Za-z]([^=].*)$/s.exec(word)?.[1]
  if (attached !== undefined && /[./~@]/.test(attached)) found.push(attached)
  const remote = /^[^:/]+:(.+)$/s.exec(word)?.[1]
  if (remote !== undefined) found.push(remote)
  return [...new Set(found.flatMap((path) => (path.startsWith("@") ? [path, path.slice(1)] : [path])))].filter(
    (path) => path !== ""
  )
}

const clients: ReadonlySet<string> = new Set(
  "curl wget nc ncat netcat socat ssh scp sftp rsync ping ping6 traceroute telnet dig host nslookup http https xh httpie aria2c ftp lynx w3m openssl nmap".split(
    " "
  )
)

/** URLs in a word, and for commands that speak to a network a bare host too. */
export const looksLikeUrl = (command: string, word: string): ReadonlyArray<string> => {
  const url = /[a-z][a-z0-9+.-]*:\/\/.+$/is.exec(word)?.[0]
  if (url !== undefined) return [url]
  if (!clients.has(command) || word.startsWith("-")) return []
  // user@host:path is a host and a path, host:8080 a host and a port.
  const host = word.replace(/^[^@/]*@/, "").replace(/^([^/:]*):(?!\d+(?:\/|$)).*$/s, "$1")
  const guess = `http://${host}`
  return host.includes(hole) || NetworkAddress.parse(guess) !== undefined ? [guess] : []
}
