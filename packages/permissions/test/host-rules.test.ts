import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { HostRule, UrlGuard } from "../src/index.js"
import { compile } from "./support.js"

const differing = (rules: ReadonlyArray<string>, rows: ReadonlyArray<readonly [string, string]>) => {
  const policy = compile({ rules })
  return rows.flatMap(([url, expected]) => {
    const { behavior } = policy.decide({ toolId: "web_fetch", arguments: { url } })
    return behavior === expected ? [] : [[url, behavior]]
  })
}

describe("host rules", () => {
  // C082
  it("[P4] match the parsed and normalised host that is then fetched", () => {
    const rules = [
      'allow web_fetch(url.host = "good.test")',
      'deny web_fetch(url.host = "169.254.0.0/16")',
      'deny web_fetch(url.host = "xn--bcher-kva.test")'
    ]
    expect(
      differing(rules, [
        ["https://good.test:443@evil.test/", "ask"],
        ["https://evilgood.test/", "ask"],
        ["https://good.test.evil.test/", "ask"],
        ["https://GOOD.test./x", "allow"],
        // Without a port a rule means the usual one of the scheme.
        ["https://good.test:8443/x", "ask"],
        ["http://[::ffff:169.254.169.254]/", "deny"],
        ["http://2852039166/", "deny"],
        ["http://0xa9.0xfe.0xa9.0xfe/", "deny"],
        ["http://0251.0376.0251.0376/", "deny"],
        ["http://169.254.43518/", "deny"],
        ["http://[64:ff9b::a9fe:a9fe]/", "deny"],
        ["http://[2002:a9fe:a9fe::]/", "deny"],
        ["http://169.254.169.254.:8080/", "deny"],
        ["https://b\u00fccher.test/", "deny"],
        ["https://B\u00dcCHER.test:99/", "deny"],
        // What a URL parser makes of these is what is fetched: the host is good.test.
        ["https://good.test\\@evil.test/", "allow"],
        ["https://g\u200bood.test/", "allow"],
        ["https://good.test@evil.test/", "ask"],
        ["https://user@good.test/", "ask"],
        ["https://evil.test/?u=good.test", "ask"],
        ["https://evil.test/#good.test", "ask"],
        ["//good.test/x", "ask"],
        ["good.test", "ask"],
        ["file:///etc/passwd", "ask"]
      ])
    ).toEqual([])
  })

  it("[P4] a wildcard means names below, and opens no address", () => {
    const rules = ['allow web_fetch(url.host ~ "*.good.test")', 'allow fetch(url.host ~ "*")']
    expect(
      differing(rules, [
        ["https://a.good.test/", "allow"],
        ["https://a.b.good.test/", "allow"],
        ["https://good.test/", "ask"],
        ["https://agood.test/", "ask"]
      ])
    ).toEqual([])
    const any = compile({ rules })
    const decide = (url: string) => any.decide({ toolId: "fetch", arguments: { url } }).behavior
    expect([decide("https://x.test/"), decide("http://8.8.8.8/"), decide("http://127.0.0.1/")]).toEqual([
      "allow",
      "ask",
      "ask"
    ])
  })

  it("[P4] groups name what no web tool should reach", () => {
    const rules = ["allow web_fetch", 'deny web_fetch(url.host ~ "@internal")']
    expect(
      differing(rules, [
        ["http://localhost:3000/", "deny"],
        ["http://a.localhost/", "deny"],
        ["http://127.1/", "deny"],
        ["http://0/", "deny"],
        ["http://10.1.2.3/", "deny"],
        ["http://100.64.0.1/", "deny"],
        ["http://[::1]/", "deny"],
        ["http://[fd00::1]/", "deny"],
        ["http://[fe80::1]/", "deny"],
        ["http://metadata.google.internal/", "deny"],
        ["http://168.63.129.16/", "deny"],
        ["http://8.8.8.8/", "allow"],
        ["http://[2606:4700::1111]/", "allow"],
        ["https://example.test/", "allow"]
      ])
    ).toEqual([])
  })

  it("[P4] ports, schemes and paths can be asked for", () => {
    const rules = [
      'allow web_fetch(url.host = "a.test:8443")',
      'allow web_fetch(url.host = "b.test:*")',
      'allow web_fetch(url ~ "https://c.test/docs/**")',
      'allow web_fetch(url.host = "d.test", url.scheme = "https", url.path ~ "/v1/*")',
      "deny web_fetch(url.port = 25)"
    ]
    expect(
      differing(rules, [
        ["https://a.test:8443/", "allow"],
        ["https://a.test/", "ask"],
        ["https://b.test:1/", "allow"],
        ["https://b.test:25/", "deny"],
        ["https://c.test/docs/a/b?q=1", "allow"],
        ["https://c.test/docs/../secret", "ask"],
        ["https://c.test/docs/%2e%2e/secret", "ask"],
        ["https://c.test/docs/%2e%2e%2fsecret", "ask"],
        ["https://c.test/docs/..%2fsecret", "ask"],
        ["http://c.test/docs/a", "ask"],
        ["https://d.test/v1/x", "allow"],
        ["http://d.test/v1/x", "ask"]
      ])
    ).toEqual([])
  })

  it("[P4] a text that is no host is refused as a rule", () => {
    const bad = [
      "a b",
      "*.*.test",
      "a*.test",
      "10.0.0.0/33",
      "@nowhere",
      "host:99999",
      "https://a.test",
      "*.10.0.0.1",
      ""
    ]
    expect(bad.filter((text) => HostRule.problemOfHost(text) === undefined)).toEqual([])
    const good = [
      "a.test",
      "*.a.test",
      "a.test:80",
      "*",
      "10.0.0.0/8",
      "::1",
      "[::1]",
      "[::1]:80",
      "fe80::/10",
      "@metadata",
      "B\u00fccher.test"
    ]
    expect(good.filter((text) => HostRule.problemOfHost(text) !== undefined)).toEqual([])
  })

  it("[P4] no spelling of a denied address gets through", () => {
    const policy = compile({ rules: ["allow web_fetch", 'deny web_fetch(url.host = "10.0.0.0/8")'] })
    const octet = fc.integer({ min: 0, max: 255 })
    const spelled = (value: number) =>
      fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`, `0x0${value.toString(16)}`)
    const host = fc.tuple(fc.constant(10), octet, octet, octet).chain(([a, b, c, d]) => {
      const number = ((a << 24) >>> 0) + (b << 16) + (c << 8) + d
      return fc.oneof(
        fc.tuple(spelled(a), spelled(b), spelled(c), spelled(d)).map((parts) => parts.join(".")),
        fc.constantFrom(
          String(number),
          `0x${number.toString(16)}`,
          `${a}.${(b << 16) + (c << 8) + d}`,
          `${a}.${b}.${(c << 8) + d}`
        ),
        fc.constant(`[::ffff:${a}.${b}.${c}.${d}]`),
        fc.constant(`[::${a}.${b}.${c}.${d}]`),
        fc.constant(`[64:ff9b::${a}.${b}.${c}.${d}]`)
      )
    })
    fc.assert(
      fc.property(host, fc.constantFrom("", ".", ":8080", ":80"), (name, end) => {
        const url = `http://${name.startsWith("[") && end === "." ? name : name + end}/`
        expect([url, policy.decide({ toolId: "web_fetch", arguments: { url } }).behavior]).toEqual([url, "deny"])
      }),
      { numRuns: 1_000 }
    )
  })
})

describe("a guard over the URLs of one call", () => {
  const guard = UrlGuard.make(
    compile({
      rules: [
        'allow web_fetch(url.host = "good.test")',
        'allow web_fetch(url.host = "10.1.0.0/16")',
        'deny web_fetch(url.host = "169.254.0.0/16")'
      ]
    }),
    { toolId: "web_fetch" }
  )
  const admitted = "https://good.test/a"

  // C083
  it("[P4] judges every redirect and every resolved address anew, without telling the rules", () => {
    expect(guard({ url: "http://169.254.169.254/latest", admitted })).toBe("169.254.169.254 is denied by policy")
    expect(guard({ url: new URL("https://good.test/c"), admitted })).toBeUndefined()
    expect(guard({ url: "https://other.test/", admitted })).toBe("other.test needs an approval of its own")
    expect(guard({ url: admitted, address: "93.184.216.34", admitted })).toBeUndefined()
    expect(guard({ url: admitted, address: "169.254.169.254", admitted })).toBe("good.test is denied by policy")
    expect(guard({ url: admitted, address: "::ffff:169.254.169.254", admitted })).toBe("good.test is denied by policy")
    expect(guard({ url: admitted, address: "192.168.0.1", admitted })).toBe("good.test leads into an internal network")
    expect(guard({ url: admitted, address: "10.1.2.3", admitted })).toBeUndefined()
    expect(guard({ url: admitted, address: "nonsense", admitted })).toBe("its host did not resolve to an address")
    expect(guard({ url: "data:text/plain,x", admitted })).toBe("it is no URL with a host")
  })

  it("[P4] what a person let through covers that origin and no other", () => {
    const asked = "https://asked.test/a"
    expect(guard({ url: asked, admitted: asked })).toBeUndefined()
    expect(guard({ url: "https://asked.test/b", admitted: asked })).toBeUndefined()
    expect(guard({ url: "http://asked.test/a", admitted: asked })).toBe("asked.test needs an approval of its own")
    expect(guard({ url: "https://user@asked.test/a", admitted: asked })).toBe("asked.test needs an approval of its own")
    expect(guard({ url: asked, address: "127.0.0.1", admitted: asked })).toBe(
      "asked.test leads into an internal network"
    )
    const local = "http://localhost:3000/"
    expect(guard({ url: local, address: "127.0.0.1", admitted: local })).toBeUndefined()
  })
})
