/** URLs whose host is denied or not allowed, in every spelling; what they mean is asked of Node's own URL and block list. */
import * as net from "node:net"
import * as fc from "fast-check"

const internal = new net.BlockList()
for (const [address, bits] of [
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.168.0.0", 16],
  ["172.16.0.0", 12]
] as const)
  internal.addSubnet(address, bits, "ipv4")
internal.addSubnet("fc00::", 7, "ipv6")
internal.addSubnet("fe80::", 10, "ipv6")
internal.addAddress("::1", "ipv6")

/** True where a client that fetches this URL would reach into an internal network. */
export const isInternal = (url: string): boolean => {
  try {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
    if (host === "localhost") return true
    const family = net.isIP(host)
    return family !== 0 && internal.check(host, family === 4 ? "ipv4" : "ipv6")
  } catch {
    return false
  }
}

/** The host that a client would contact; `undefined` for what is no URL. */
export const contacted = (url: string): string | undefined => {
  try {
    return new URL(url).hostname.replace(/\.$/, "")
  } catch {
    return undefined
  }
}

const byte = fc.integer({ min: 0, max: 255 })
const spelledByte = (value: number) =>
  fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`, `0x00${value.toString(16)}`)

const addresses = fc
  .tuple(fc.constantFrom([10], [127], [169, 254], [192, 168], [172, 20], [8, 8], [93]), byte, byte, byte, byte)
  .chain(([start, ...rest]) => {
    const [a = 0, b = 0, c = 0, d = 0] = [...start, ...rest]
    const number = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d
    return fc.oneof(
      fc.tuple(spelledByte(a), spelledByte(b), spelledByte(c), spelledByte(d)).map((parts) => parts.join(".")),
      fc.constantFrom(
        String(number),
        `0x${number.toString(16)}`,
        `0${number.toString(8)}`,
        `${a}.${number % 2 ** 24}`,
        `${a}.${b}.${number % 2 ** 16}`
      ),
      fc.constantFrom(
        `[::ffff:${a}.${b}.${c}.${d}]`,
        `[0:0:0:0:0:ffff:${a}.${b}.${c}.${d}]`,
        `[::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}]`
      )
    )
  })

const names = fc.constantFrom(
  "good.test",
  "GOOD.test",
  "g\u200bood.test",
  "good.test.evil.test",
  "evilgood.test",
  "evil.test",
  "localhost",
  "LOCALHOST",
  "[::1]",
  "[fd00::1]",
  "\uff47ood.test",
  "good%2etest",
  "ｌocalhost"
)

export const urls: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http://", "https://", "HTTP://", "http:\\\\", "https:/", "http:", "//", ""),
    fc.constantFrom(
      "",
      "",
      "",
      "good.test@",
      "good.test:443@",
      "user:pass@",
      "good.test%00@",
      "good.test\\@",
      "good.test#@",
      "good.test?@",
      "good.test/@"
    ),
    fc.oneof(addresses, names),
    fc.constantFrom("", "", ".", ":80", ":443", ":8443", ".:80"),
    fc.constantFrom("/", "", "/x?u=good.test", "#good.test", "?good.test", "\\good.test")
  )
  .map((parts) => parts.join(""))
