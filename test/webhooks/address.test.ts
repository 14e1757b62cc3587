import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { parseNets } from '../../src/net/nets.ts'
import { checkWebhookUrl } from '../../src/webhooks/address.ts'

const names: Record<string, string[]> = {
  'inner.test': ['10.1.2.3'],
  'outer.test': ['93.184.215.14'],
  'both.test': ['93.184.215.14', '10.1.2.3'],
  localhost: ['127.0.0.1'],
}

test.each([
  // An https address with a host name is accepted without resolving the host name. In an https address with an IP
  // address, the IP address is checked.
  ['https://example.com/hook', '', null],
  ['https://example.com:8443/hook?a=1#part', '', null],
  ['https://user:pass@example.com/hook', '', null],
  ['https://localhost/hook', '', null],
  ['https://8.8.8.8/hook', '', null],
  ['https://[2606:4700::1111]/hook', '', null],
  ['https://127.0.0.1/hook', '', /private/],
  ['https://127.1/hook', '', /private/],
  ['https://0x7f000001/hook', '', /private/],
  ['https://[::1]/hook', '', /private/],
  ['https://[::ffff:10.0.0.1]/hook', '', /private/],
  ['https://169.254.169.254/hook', '', /private/],
  ['https://10.1.2.3/hook', '10.0.0.0/8', null],
  ['https://192.168.1.1/hook', '10.0.0.0/8', /private/],
  // A plain http address is accepted only if its host has an IP address in a network that the operator allows.
  ['http://example.com/hook', '', /https/],
  ['http://8.8.8.8/hook', '', /https/],
  ['http://8.8.8.8/hook', '10.0.0.0/8', /https/],
  ['http://127.0.0.1:9000/hook', '', /https/],
  ['http://127.0.0.1:9000/hook', '127.0.0.0/8', null],
  ['http://2130706433/hook', '127.0.0.0/8', null],
  ['http://[::1]/hook', '::1', null],
  ['http://localhost:9000/hook', '127.0.0.0/8', null],
  ['http://inner.test/hook', '10.0.0.0/8', null],
  ['http://inner.test/hook', '127.0.0.0/8', /https/],
  ['http://outer.test/hook', '10.0.0.0/8', /https/],
  ['http://both.test/hook', '10.0.0.0/8', null],
  ['http://nowhere.test/hook', '10.0.0.0/8', /could not be found/],
  // These addresses are refused: their scheme is neither http nor https, or they are not complete URLs.
  ['ftp://example.com/hook', '', /http or https/],
  ['javascript:alert(1)', '', /http or https/],
  ['file:///etc/passwd', '127.0.0.0/8', /http or https/],
  ['example.com/hook', '', /http or https/],
  ['https://', '', /http or https/],
  ['', '', /http or https/],
])('%s with %p allowed: %p', async (address, allowed, expected) => {
  const reason = await check(address, allowed)
  if (expected === null) expect(reason).toBeNull()
  else expect(reason).toMatch(expected)
})

test('an address may be as long as the limit, and no longer', async () => {
  const start = 'https://example.com/'
  const longest = start + 'a'.repeat(limits.urlLengthMax - start.length)
  expect(await check(longest, '')).toBeNull()
  expect(await check(`${longest}a`, '')).toContain(String(limits.urlLengthMax))
})

test('only the name of a plain http address is looked up, and only when networks are allowed', async () => {
  const asked: string[] = []
  const resolve = async (name: string) => {
    asked.push(name)
    return ['10.1.2.3']
  }
  const allowNets = parseNets('10.0.0.0/8')!
  await checkWebhookUrl('https://example.com/', { allowNets, resolve })
  await checkWebhookUrl('http://10.1.2.3/', { allowNets, resolve })
  await checkWebhookUrl('http://example.com/', { allowNets: parseNets('')!, resolve })
  expect(asked).toEqual([])
  await checkWebhookUrl('http://example.com/', { allowNets, resolve })
  expect(asked).toEqual(['example.com'])
})

function check(address: string, allowed: string): Promise<string | null> {
  return checkWebhookUrl(address, {
    allowNets: parseNets(allowed)!,
    resolve: async name => names[name] ?? [],
  })
}
