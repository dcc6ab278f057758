import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Command } from 'commander';
import type { Extension } from '../../../cli/extension.ts';
import { extensionsOf } from '../../../cli/shared/extensions.ts';
import { examples } from '../../commands/options.ts';
import { ERRORS } from '../operation.ts';
import { addRoutes } from '../routes.ts';
import { controlServer } from '../server.ts';

type Json = Record<string, unknown>;

interface RequestBody {
  required: boolean;
  readonly content: { readonly 'application/json': { readonly schema: { readonly anyOf?: readonly Json[] } } };
}

interface Generated extends Json {
  readonly paths: Record<string, Record<string, { responses: Json; requestBody?: RequestBody }>>;
  readonly components: Json & { readonly schemas: Json };
}

const DESCRIPTION = `A running \`order-sync run\` has the merchant key and keeps the rate limit, so that your back end needs
neither. It takes requests, HTTP/1.1, in two ways.

The Unix socket \`<database>.sock\`, beside the database (if that path is too long for a socket, \`order-sync-<uid>/\` in
the system's temporary folder). The file's mode is 0600: a process of the same user may ask for everything, no other process
for anything.

    curl --unix-socket /var/lib/order-sync/order-sync.db.sock http://localhost/clients/link-1

The API at \`api.listen\`, for programs that have a token of \`api.tokens\`. Each operation names its scopes (\`x-scopes\`): the token needs
one of them. Without a token the answer is 401, without the scope or the account 403, above the rate of the token 429.

    curl -H 'authorization: Bearer SECRET' https://order-sync.example:8443/clients/link-1

Every answer but that of \`POST /sync\` and a stream of events has one shape: \`{"ok":true,"value":…}\`, or a problem of RFC 9457 with
\`"ok":false\` and an \`error\` of always the same six fields. Decide by \`error.kind\` and \`error.reason\`; \`error.message\` is
for people. The HTTP status of a refusal by the exchange is the exchange's own.

- \`value\` is the answer of the exchange, as received: it keeps fields that are not described here, statuses are open
  text, and numbers have every digit. Read amounts with a parser that keeps them, or as text.
- After \`not-sent\` and \`rate-limited\` nothing was done: ask again, after \`Retry-After\` seconds if the answer has it.
- After \`unknown\` it is not known whether the exchange did what was asked. An operation that only reads may be repeated.
- A request waits for its turn at most 60 s. A request whose turn has not come when its connection is closed is not sent.
- Tokens, card numbers and names are in the answers, and in no log.
- \`account\` names the account that a request is about. If it is missing, the request is about the account \`default\`. A process that
  does not drive the account answers \`not-owner\` (421) and does nothing. \`GET /events\` and \`GET /orders/{id}\` read the database for
  any account.
- § numbers are sections of the exchange's interface document.`;

const TOKEN = `The secret of a token of \`api.tokens\`. Its \`scopes\` are some of:

- \`read\`: reads orders, pre-orders, findings, events and the status.
- \`orders\`: adds and adopts orders, cancels unsent ones, and starts a pass.
- \`clients\`: makes and reads links, verifications, customers, cards and SDK tokens.
- \`decide\`: takes the decisions of a person, which are recorded under the name of the token, and runs the probe.

A token with \`accounts\` may ask only about these accounts. A token without \`accounts\` may ask about any account, and about \`all\` for
the status.`;

const TAGS = [
  { name: 'clients', description: 'Clients, their verification and their cards.' },
  { name: 'orders', description: 'Orders in the table, and pre-orders and orders at the exchange.' },
  { name: 'findings', description: 'What reconciliation found.' },
  { name: 'decisions', description: 'What a person, or a program in their place, decides.' },
  { name: 'events', description: 'Events, the oldest first, also as a stream.' },
  { name: 'links', description: 'Links that are remembered and followed.' },
  { name: 'status', description: 'The status of the daemon and of the orders.' },
  { name: 'sync', description: 'Runs a pass now.' },
];

export function define(command: Command): void {
  command
    .option('--json', 'changes nothing: the document is always JSON')
    .addHelpText(...examples('openapi > openapi.json'))
    .action(async () => {
      const document = await controlDocument(command.parent?.version() ?? '', extensionsOf(command));
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    });
}

export async function controlDocument(version: string, extensions: readonly Extension[]): Promise<Json> {
  const server = controlServer({ error: () => {} });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'order-sync', version, description: DESCRIPTION, license: { name: 'MIT' } },
      servers: [
        { url: 'https://order-sync.example:8443', description: 'The API; `api.advertise` has its address.' },
        { url: 'http://localhost', description: 'Through the Unix socket; the server ignores the host name.' },
      ],
      // The empty entry is for the socket, which needs no token.
      security: [{ token: [] }, {}],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: TOKEN } } },
      tags: TAGS,
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  // The routes are only described and never called, so they need no `serving`.
  await addRoutes(server, extensions, undefined as never);
  await server.ready();
  return corrected(server.swagger() as unknown as Generated);
}

function corrected({ paths, components, ...rest }: Generated): Json {
  const errors = new Map(Object.entries(ERRORS));
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    // The generator marks optional bodies as required too.
    const { requestBody, responses } = operation;
    if (requestBody?.content['application/json'].schema.anyOf?.some(({ type }) => type === 'null') === true) {
      requestBody.required = false;
    }
    for (const status of Object.keys(responses)) {
      const error = errors.get(status.toLowerCase());
      if (error !== undefined) responses[status] = { $ref: `#/components/responses/${error.name}` };
    }
  }
  const responses = [...errors.values()].map(({ name, response }) => [name, response]);
  // The generator adds components of requests, which no operation refers to.
  const schemas = Object.entries(components.schemas).filter(([name]) => !name.endsWith('Input'));
  const corrections = { schemas: Object.fromEntries(schemas), responses: Object.fromEntries(responses) as Json };
  return { ...rest, paths, components: { ...components, ...corrections } };
}
