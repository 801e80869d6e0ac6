/**
 * URLs and network addresses in the one spelling that rules compare and that connections use.
 *
 * Guarantees: whatever a URL parser makes of a text (numeric and mapped addresses, international names, a trailing dot,
 * credentials before the host) is undone here once, so a check and a fetch never see two hosts; pure, asks no name server.
 * Does not decide: rules do. Does not hold a name to an address: check the resolved address again before connecting.
 */

/** A parsed URL with a host. Fetch `url` itself, never the text that it came from. */
export interface NetworkTarget {
  readonly url: URL
  /** Without the colon, for example `"https"`. */
  readonly scheme: string
  /** Lower case, ASCII, without brackets and without a trailing dot. */
  readonly host: string
  /** The port that will be used; `undefined` where the scheme has no usual one and none is written. */
  readonly port: number | undefined
  /** True where a port is written that is not the usual one of the scheme. */
  readonly unusualPort: boolean
  /** A user name or a password stands before the host. */
  readonly credentials: boolean
  /** Set where the host is an address. */
  readonly address: Address | undefined
}

export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface AddressRange {
  readonly start: Address
  /** Bits that all addresses of the range share. */
  readonly length: number
}

/** Where an address leads. Everything but `Global` stays inside some network and is no place for a web tool. */
export type AddressScope =
  | "Global"
  | "Loopback"
  | "Private"
  | "LinkLocal"
  | "Metadata"
  | "Multicast"
  | "Unspecified"
  | "Reserved"

const usualPorts: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
  ["ws", 80],
  ["wss", 443],
  ["ftp", 21]
])

/** `undefined` for what is no absolute URL with a host. */
export const parse = (text: string): NetworkTarget | undefined => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return undefined
  }
  return of(url)
}

/** The same for a parsed URL, for example the target of a redirect. */
export const of = (url: URL): NetworkTarget | undefined => {
  const host = normaliseHost(url.hostname)
  if (host === "") return undefined
  const scheme = url.protocol.slice(0, -1)
  const usual = usualPorts.get(scheme)
  const port = url.port === "" ? usual : Number(url.port)
  return {
    url,
    scheme,
    host,
    port,
    unusualPort: port !== usual,
    credentials: url.username !== "" || url.password !== "",
    address: parseAddress(host)
  }
}

/** The host as a URL parser spells it, without brackets and trailing dot; `undefined` for what can be no host. */
export const parseHost = (text: string): string | undefined => {
  try {
    const url = new URL(`http://${text.includes(":") && !text.startsWith("[") ? `[${text}]` : text}/`)
    if (url.pathname !== "/" || url.username !== "" || url.port !== "" || url.search !== "" || url.hash !== "")
      return undefined
    return normaliseHost(url.hostname) || undefined
  } catch {
    return undefined
  }
}

const normaliseHost = (hostname: string): string => {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  return (bare.endsWith(".") ? bare.slice(0, -1) : bare).toLowerCase()
}

/** Reads `10.0.0.1` or `fe80::1`, with `%zone` ignored; `undefined` for anything else, numbers in other bases included. */
export const parseAddress = (text: string): Address | undefined => {
  const four = parseFour(text)
  if (four !== undefined) return { family: 4, value: four }
  const six = text.includes(":") ? parseSix(text.replace(/%.*$/, "")) : undefined
  return six === undefined ? undefined : { family: 6, value: six }
}

const parseFour = (text: string): bigint | undefined => {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(text)) return undefined
  const bytes = text.split(".").map(Number)
  return bytes.some((byte) => byte > 255) ? undefined : bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

const parseSix = (text: string): bigint | undefined => {
  const tail = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
  const four = tail === undefined ? undefined : parseFour(tail)
  if (tail !== undefined && four === undefined) return undefined
  const hex =
    four === undefined || tail === undefined
      ? text
      : `${text.slice(0, -tail.length)}${(four >> 16n).toString(16)}:${(four & 0xffffn).toString(16)}`
  const halves = hex.split("::")
  if (halves.length > 2) return undefined
  const [front = [], back = []] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const gap = 8 - front.length - back.length
  if (halves.length === 2 ? gap < 1 : gap !== 0) return undefined
  const groups = [...front, ...Array.from({ length: gap }, () => "0"), ...back]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

/** The address as `parseAddress` reads it back; IPv6 without shortening. */
export const print = ({ family, value }: Address): string => {
  const [count, bits, radix, mark] = family === 4 ? ([4, 8n, 10, "."] as const) : ([8, 16n, 16, ":"] as const)
  return Array.from(
    { length: count },
    (_, index) => (value >> (BigInt(count - 1 - index) * bits)) & ((1n << bits) - 1n)
  )
    .map((part) => part.toString(radix))
    .join(mark)
}

/** Reads `10.0.0.0/8`, or a single address as a range of one. */
export const parseRange = (text: string): AddressRange | undefined => {
  const [host = "", bits, ...rest] = text.split("/")
  const start = parseAddress(host)
  if (start === undefined || rest.length > 0) return undefined
  const most = start.family === 4 ? 32 : 128
  if (bits === undefined) return { start, length: most }
  const length = /^\d{1,3}$/.test(bits) ? Number(bits) : most + 1
  return length > most ? undefined : { start, length }
}

/** True where the address, or the IPv4 address inside it, lies in the range. */
export const contains = (range: AddressRange, address: Address): boolean =>
  forms(address).some(
    (form) => form.family === range.start.family && form.value >> shift(range) === range.start.value >> shift(range)
  )

const shift = ({ start, length }: AddressRange): bigint => BigInt((start.family === 4 ? 32 : 128) - length)

/** The address, and the IPv4 address that a mapped, compatible, translated or tunnelled IPv6 address carries. */
export const forms = (address: Address): ReadonlyArray<Address> => {
  if (address.family === 4) return [address]
  const inner = (value: bigint): ReadonlyArray<Address> => [address, { family: 4, value: value & 0xffff_ffffn }]
  const top = address.value >> 32n
  // ::ffff:a.b.c.d, ::a.b.c.d, ::ffff:0:a.b.c.d, 64:ff9b::a.b.c.d and its local form 64:ff9b:1::/48, 2002:aabb:ccdd::
  if (top === 0xffffn || top === 0xffff_0000n || (top === 0n && address.value > 0xffffn)) return inner(address.value)
  if (address.value >> 80n === 0x64_ff9b_0001n || top === 0x64_ff9bn << 64n) return inner(address.value)
  if (address.value >> 112n === 0x2002n) return inner(address.value >> 80n)
  return [address]
}

const scopes: ReadonlyArray<readonly [AddressScope, ReadonlyArray<string>]> = [
  // Where cloud machines hand out credentials; first, because they lie inside wider ranges.
  [
    "Metadata",
    [
      "169.254.169.254",
      "169.254.170.2",
      "169.254.170.23",
      "100.100.100.200",
      "168.63.129.16",
      "192.0.0.192",
      "fd00:ec2::254",
      "fd00:ec2::23",
      "fd20:ce::254"
    ]
  ],
  ["Unspecified", ["0.0.0.0/8", "::"]],
  ["Loopback", ["127.0.0.0/8", "::1"]],
  ["LinkLocal", ["169.254.0.0/16", "fe80::/10"]],
  ["Private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"]],
  ["Multicast", ["224.0.0.0/4", "ff00::/8"]],
  // Special-purpose registries of RFC 6890, and what lies outside of the global unicast space of IPv6.
  [
    "Reserved",
    [
      "192.0.0.0/24",
      "192.0.2.0/24",
      "192.88.99.0/24",
      "198.18.0.0/15",
      "198.51.100.0/24",
      "203.0.113.0/24",
      "240.0.0.0/4",
      "2001:db8::/32",
      "2001::/23",
      "100::/64",
      "5f00::/16",
      "3fff::/20"
    ]
  ]
]

const scopeRanges = scopes.map(([scope, ranges]) => [scope, ranges.flatMap((text) => parseRange(text) ?? [])] as const)

/** The scope of the address, or the least global one of the addresses that it carries. */
export const scopeOf = (address: Address): AddressScope => {
  for (const [scope, ranges] of scopeRanges) if (ranges.some((range) => contains(range, address))) return scope
  if (address.family === 4 || forms(address).length > 1) return "Global"
  return address.value >> 125n === 1n ? "Global" : "Reserved"
}
