import { z } from 'zod';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../../accounts/rules/name.ts';
import { readValueFile } from '../../settings/settings-file.ts';
import { file, section, settingsPart } from '../../settings/settings.ts';
import { areDifferent, fields, flag, jsonList } from '../../settings/shapes.ts';
import * as type from '../../settings/values.ts';
import { listenAddress } from '../http/settings.ts';
import { SCOPES } from './caller.ts';

const MOST_TOKENS = 100;
const SECRET = /^.{32,1000}$/;
const FORM = 'such as [{"name": "shop", "scopes": ["read", "orders"], "secretFile": "/etc/order-sync/shop.token"}]';
const ALL_ACCOUNTS = '*';

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const name = type.text(
  (given) => {
    if (NAME.test(given)) return given;
    throw new Error('must be a name of 1 to 64 letters, digits, dots, underscores and hyphens');
  },
  { type: 'string', pattern: NAME.source },
);
const accountName = type.text((given) => {
  if (given === ALL_ACCOUNTS || ACCOUNT_NAME.test(given)) return given;
  throw new Error(`must be ${ALL_ACCOUNTS} or ${ACCOUNT_NAME_FORM}`);
});
const secretFile = type.text((given) => {
  readSecret(given);
  return given;
});

/** Reads the secret of a token. The error of an unusable file says why, and never quotes the content of the file. */
export function readSecret(path: string): string {
  const secret = type.reader(type.headerText)(readValueFile(path, 'the secret of a token'));
  if (SECRET.test(secret)) return secret;
  throw new Error(`${path} must contain 32 to 1000 characters: make them with openssl rand -hex 32`);
}

const token = fields(
  {
    name,
    scopes: type.wordsOf(...SCOPES).refine((scopes) => scopes.length > 0, 'must name at least one scope'),
    accounts: type.list(accountName, 1).optional(),
    secretFile,
    rate: type.wholeNumber(1, 1_000_000).optional(),
  },
  FORM,
).transform(({ scopes, accounts = [ALL_ACCOUNTS], rate = 100, ...given }) => ({
  caller: { name: given.name, scopes, accounts: accounts.includes(ALL_ACCOUNTS) ? ('all' as const) : accounts },
  secretFile: given.secretFile,
  /** Requests a second. */
  rate,
}));

const tokens = jsonList(
  z
    .array(token, `must be a list, ${FORM}`)
    .max(MOST_TOKENS, `must name at most ${MOST_TOKENS} tokens`)
    .refine((all) => areDifferent(all.map(({ caller }) => caller.name)), 'names a token twice'),
);

const api = section({
  listen: listenAddress,
  certFile: type.optional(type.plainText),
  keyFile: type.optional(type.plainText),
  insecure: flag,
  advertise: type.optional(type.apiUrl),
  tokens,
  token: type.optional(type.headerText),
  tokenFile: file,
})
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), {
    path: ['keyFile'],
    error: 'goes together with api.certFile: set both, or none',
  })
  .refine(({ listen, ...one }) => listen === undefined || one.tokens.length > 0, {
    path: ['tokens'],
    error: 'names no token, so the API would refuse every request: name a token, or set api.listen to off',
  })
  .refine(
    ({ listen, certFile, insecure }) =>
      listen === undefined || type.isLoopback(listen.host) || certFile !== undefined || insecure,
    {
      path: ['listen'],
      error:
        'can be reached from other machines: set api.certFile and api.keyFile, or set api.insecure: true behind a proxy that does TLS',
    },
  );

export const apiSettings = settingsPart({
  sections: { control: section({ socket: type.optional(type.plainText) }), api },
  secrets: ['api.token'],
  files: ['control.socket', 'api.certFile', 'api.keyFile'],
});
export type ApiSettings = Pick<ReturnType<typeof apiSettings.of>['api'], 'listen' | 'certFile' | 'keyFile' | 'tokens'>;
export type TokenSettings = ApiSettings['tokens'][number];
