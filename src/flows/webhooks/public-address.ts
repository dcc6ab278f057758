import dns from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 networks that are not of the internet: this machine, private and shared ones, link-local with the metadata of clouds, multicast. */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Answers each machine of Azure with the secrets of that machine.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** The IPv6 addresses of the internet. Those that stand for one of IPv4 (mapped, NAT64, 6to4, Teredo) are not, or stand below. */
const PUBLIC_6 = '2000::/3';
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const notPublic4 = listOf(NOT_PUBLIC_4, 'ipv4');
const public6 = listOf([PUBLIC_6], 'ipv6');
const notPublic6 = listOf(NOT_PUBLIC_6, 'ipv6');

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Tells whether an IP address is one of the internet: no other is sent to unless the endpoint allows it. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic4.check(address, 'ipv4');
  // One with a zone is of this machine's own networks.
  if (family !== 6 || address.includes('%')) return false;
  return public6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
}

/** The address is not one of the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
}

/** Resolves the name of a host to all its addresses, as `dns.lookup` does. */
export type Resolve = (
  host: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly dns.LookupAddress[]) => void,
) => void;

const resolveByName: Resolve = (host, callback) => dns.lookup(host, { all: true, order: 'verbatim' }, callback);

/**
 * Gives the addresses of a host to Node where all of them are of the internet. Node connects to what this gives: an answer
 * that is another at the next look-up is checked then.
 */
export function publicLookup(resolve: Resolve = resolveByName): LookupFunction {
  return (host, { all }, callback) =>
    resolve(host, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? noAddress(), '');
      else if (!found.every(({ address }) => isPublic(address))) callback(new PrivateAddressError(), '');
      else if (all === true) callback(null, [...found]);
      else callback(null, first.address, first.family);
    });
}

function noAddress(): NodeJS.ErrnoException {
  return Object.assign(new Error('the host has no address'), { code: 'ENOTFOUND' });
}
