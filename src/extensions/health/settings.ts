import { file, section, settingsPart } from '../../settings/settings.ts';
import * as type from '../../settings/values.ts';
import { listenAddress } from '../http/settings.ts';

const SHORTEST_TOKEN = 16;

const tooShort = `must have at least ${SHORTEST_TOKEN} characters (the value is not shown)`;
const token = type.headerText
  .refine(({ length }) => length >= SHORTEST_TOKEN, tooShort)
  .meta({ json: type.TEXT_OR_NUMBER });

/** A URL that may have a query, unlike `exchange.baseUrl`. */
const calledUrl = type.text((url) => type.secureAddress(url).href, type.ADDRESS);

const HOST_NAME = /^[A-Za-z0-9.-]+$/;
const hostName = type.text(
  (host) => {
    if (!HOST_NAME.test(host)) throw new Error('must be the name of a host without a port, such as ops.shop.example');
    return host.toLowerCase();
  },
  { type: 'string', pattern: HOST_NAME.source },
);

const ops = section({
  listen: listenAddress,
  token: type.optional(token),
  tokenFile: file,
  hosts: type.list(hostName),
  heartbeatUrl: type.optional(calledUrl),
  heartbeatUrlFile: file,
  actions: type.oneOf('off', 'on'),
})
  .refine(({ listen, ...one }) => listen === undefined || type.isLoopback(listen.host) || one.token !== undefined, {
    path: ['listen'],
    error: 'can be reached from other machines: set ops.token, or listen on 127.0.0.1',
  })
  .refine(({ actions, ...one }) => actions === 'off' || one.token !== undefined, {
    path: ['actions'],
    error:
      'is on, and every user of this machine could decide about orders: set ops.token too, in a file (ORDER_SYNC_OPS_TOKEN_FILE)',
  });

export const healthSettings = settingsPart({ sections: { ops }, secrets: ['ops.token', 'ops.heartbeatUrl'] });
export type OpsSettings = ReturnType<typeof healthSettings.of>['ops'];
