import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { settingsProblems } from '../operate/rules/problems.ts';
import { addListOptions, printList, listText, print, printLong } from '../commands/print.ts';
import type { ListColumn, ListOptions } from '../commands/print.ts';
import { withStore } from '../../cli/shared/store.ts';
import { type Delivery, takesType, type DeliveryOutcome } from './delivery.ts';
import { listDeliveries, deliverDeadLetter } from './tables/deliveries.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { systemClock } from '../../base/clock.ts';
import { feedEventOf, type EventRow } from '../feed/event.ts';
import { webhooksSettings, type WebhookEndpoint } from './settings.ts';
import { readFeed } from '../feed/tables/events.ts';
import { newestEventId } from '../../store/tables/chain.ts';
import type { Store } from '../../store/port.ts';
import { accountOf } from '../../cli/shared/account.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { plainConfig } from '../../cli/shared/options.ts';
import { STATUS } from '../api/addresses.ts';
import { readFromDaemon } from '../api/asking/ask.ts';
import { examples, rowId, rowIds } from '../commands/options.ts';
import type { Config } from '../../settings/config.ts';
import { pasteable } from '../../base/invocation.ts';
import { suggestion } from '../../base/text.ts';
import { capitalized } from '../documents/words.ts';
import { receiverRemedy, receiverText } from './receiver.ts';
import type { WebhookSender } from './sender.ts';
import { readWebhooks, type WebhookState } from './tables/endpoints.ts';

const MOST_AT_ONCE = 10_000;
const PAGE = 100;

type ResendOptions = Readonly<{ deadLetter?: readonly number[]; all?: boolean; from?: number; json?: boolean }>;

export const define = {
  list(command: Command): void {
    command.description('lists the endpoints of the settings, with the state of each');
    addListOptions(command)
      .addHelpText(...examples('webhooks list'))
      .action(async (options: ListOptions) => {
        const config = await plainConfig(command);
        const { endpoints } = webhooksSettings.of(config).webhooks;
        const states = await withStore(command, 'current', ({ db }) => readWebhooks(db, endpoints), config);
        const columns: readonly ListColumn<WebhookState>[] = [
          { label: 'endpoint', of: (row) => row.name },
          { label: 'last delivery', kind: 'time', rank: 1, of: (row) => row.takenAt },
          { label: 'waiting since', kind: 'time', of: (row) => row.oldestWaiting },
          { label: 'refused, retried', kind: 'count', of: (row) => row.parked },
          { label: 'dead letters', kind: 'count', of: (row) => row.deadLetters },
          { label: 'failing since', kind: 'time', of: (row) => row.failingSince },
          { label: 'next try', kind: 'time', rank: 2, of: (row) => row.nextTryAt },
          { label: 'cause', of: (row) => row.cause },
        ];
        await printList(command, states, options, columns, 'webhooks.endpoints names no endpoint');
        await tellChanged(command, config);
      });
  },

  show(command: Command): void {
    command.description(
      'shows why an endpoint accepts no events, its refused events that are retried, and its dead letters',
    );
    addListOptions(command.argument('<name>', 'the endpoint'))
      .addHelpText(...examples('webhooks show https://shop.example/events'))
      .action(async (name: string, options: ListOptions) => {
        const { states, retrying, deadLetters } = await withStore(command, 'current', async ({ db }, config) => {
          const endpoint = endpointOf(config, name);
          const query = { endpoint: endpoint.name, limit: options.limit };
          return {
            states: await readWebhooks(db, [endpoint]),
            retrying: await listDeliveries(db, { ...query, status: 'retrying' }),
            deadLetters: await listDeliveries(db, { ...query, status: 'dead' }),
          };
        });
        const failing = states.find(({ failingSince }) => failingSince !== null) ?? null;
        const about: readonly ListColumn<Delivery>[] = [
          { label: 'account', of: (row) => row.account },
          { label: 'about', of: (row) => row.kind },
          { label: 'id', isId: true, of: (row) => row.subject },
          { label: 'status', of: ({ answer }) => (answer === 0 ? 'no answer' : answer) },
        ];
        const table = (label: string, rows: readonly Delivery[], ...more: readonly ListColumn<Delivery>[]) => {
          const columns = [{ label, of: (row: Delivery) => row.event_id }, ...about, ...more];
          return rows.length === 0 ? '' : `\n${listText(rows, columns, screenOf())}`;
        };
        const text = () => [
          ...states.map((state) => `The receiver ${receiverText(state, (at) => `at ${at}`)}.\n`),
          ...states.flatMap(({ cause }) => (cause === null ? [] : [`${capitalized(receiverRemedy(cause))}.\n`])),
          table(
            'retrying',
            retrying,
            { label: 'attempts', kind: 'count', of: (row) => row.attempts },
            { label: 'next attempt', kind: 'time', of: (row) => row.next_attempt_at },
          ),
          table('dead letter', deadLetters, { label: 'since', kind: 'time', of: (row) => row.since }),
        ];
        await printLong(options.json, { failing, retrying, deadLetters }, () => text().join(''));
        if (states.some((state) => state.parked > retrying.length || state.deadLetters > deadLetters.length))
          process.stderr.write(`each list shows at most its first ${options.limit} events: --limit shows more\n`);
      });
  },

  resend(command: Command): void {
    command
      .description(
        'sends dead letters again, or the events of an account from a given event on; each event keeps its id',
      )
      .argument('<name>', 'the endpoint')
      .option('--dead-letter <id...>', 'these dead letters of the account', rowIds)
      .option('--all', 'all dead letters of the endpoint, of all accounts')
      .option('--from <id>', 'the events of the account from this one to the newest', rowId)
      .option('--json', 'print JSON')
      .addHelpText(...examples('webhooks resend https://shop.example/events --all'))
      .action(async (name: string, options: ResendOptions) => {
        const ways = [options.deadLetter, options.all, options.from].filter((way) => way !== undefined);
        if (ways.length !== 1) command.error('error: use one of --dead-letter, --all and --from');
        const counts = await withStore(command, 'current', async (store, config) => {
          const endpoint = endpointOf(config, name);
          return await resend(store, endpoint, wantedRows(store, endpoint, accountOf(command, config), options));
        });
        const { taken, left, notTried } = counts;
        const others = notTried < MOST_AT_ONCE ? String(notTried) : `${MOST_AT_ONCE} or more`;
        const text = `${taken} delivered, ${left} not delivered${notTried > 0 ? `, ${others} not tried` : ''}\n`;
        print(options.json, counts, () => text);
        if (left > 0) process.exitCode = EXIT.look;
      });
  },

  test(command: Command): void {
    command
      .description('sends one message of the type webhook.test to an endpoint, whatever types its settings list')
      .argument('<name>', 'the endpoint')
      .option('--json', 'print JSON')
      .addHelpText(...examples('webhooks test https://shop.example/events'))
      .action(async (name: string, options: { readonly json?: boolean }) => {
        const config = await plainConfig(command);
        const endpoint = endpointOf(config, name);
        using sender = await senderTo(endpoint);
        const timestamp = systemClock().now().toISOString();
        const message = { version: 1, id: `test_${randomUUID()}`, type: 'webhook.test', timestamp, data: {} };
        const outcome = await sender.send(message);
        print(options.json, { id: message.id, ...outcome }, () => `${outcomeText(outcome)}\n`);
        await tellChanged(command, config);
        if (outcome.kind !== 'taken') process.exitCode = EXIT.look;
      });
  },

  verify(command: Command): void {
    command
      .description('checks that a message was signed with a secret of an endpoint, within 5 minutes of now')
      .argument('<name>', 'the endpoint')
      .argument('<file>', 'the body as it was received, byte for byte; - is standard input')
      .requiredOption('--id <text>', 'the header webhook-id')
      .requiredOption('--timestamp <seconds>', 'the header webhook-timestamp')
      .requiredOption('--signature <text>', 'the header webhook-signature')
      .addHelpText(
        ...examples(
          "webhooks verify https://shop.example/events body.json \\\n    --id evt_1 --timestamp 1767225600 --signature 'v1,…'",
        ),
      )
      .action(async (name: string, file: string, given: Readonly<Record<string, string>>) => {
        const { secrets } = endpointOf(await plainConfig(command), name);
        const body = readFileSync(file === '-' ? 0 : file);
        const headers = Object.fromEntries(Object.entries(given).map(([key, value]) => [`webhook-${key}`, value]));
        const { Webhook } = await import('standardwebhooks');
        let reason = '';
        for (const secret of secrets) {
          try {
            new Webhook(secret).verify(body, headers, { jsonParse: false });
            return void process.stdout.write('the message is verified\n');
          } catch (error) {
            reason ||= (error as Error).message;
          }
        }
        throw new CommandError(EXIT.data, `the message is not verified: ${reason}`);
      });
  },
};

/** Warns if the settings changed after the daemon started, because the daemon may not know the endpoint. */
async function tellChanged(command: Command, config: Config): Promise<void> {
  const status = await readFromDaemon(command, config, STATUS, undefined);
  const { daemon } = (status ?? {}) as { readonly daemon?: { readonly changedSettings?: string } };
  for (const { text, remedy } of settingsProblems(daemon?.changedSettings))
    process.stderr.write(`${text}: ${pasteable(remedy)}\n`);
}

async function* wantedRows({ db }: Store, endpoint: WebhookEndpoint, account: string, options: ResendOptions) {
  const { deadLetter, all, from = 0 } = options;
  if (deadLetter !== undefined || all === true) {
    const letters = await listDeliveries(db, { endpoint: endpoint.name, status: 'dead', limit: MOST_AT_ONCE });
    if (letters.length === MOST_AT_ONCE)
      process.stderr.write(
        `only ${MOST_AT_ONCE} dead letters of ${endpoint.name} were read; --from resends other events\n`,
      );
    const isWanted = (one: Delivery) => all === true || (one.account === account && deadLetter?.includes(one.event_id));
    const wanted = letters.filter(isWanted);
    const missing = deadLetter?.filter((id) => !wanted.some((one) => one.event_id === id)) ?? [];
    if (missing.length > 0)
      throw new CommandError(EXIT.absent, `${endpoint.name} has no dead letter ${missing.join(', ')}`);
    for (const one of wanted) yield* await readFeed(db, { account: one.account, afterId: one.event_id - 1, limit: 1 });
    return;
  }
  const newest = await newestEventId(db, account);
  if (from > newest) {
    const has =
      newest === 0 ? 'has no events yet' : `has no event with the id ${from} or a later one; the newest is ${newest}`;
    throw new CommandError(EXIT.absent, `the account ${account} ${has}`);
  }
  for (let afterId = from - 1; afterId < newest;) {
    const rows = await readFeed(db, { account, afterId, limit: PAGE });
    yield* rows.filter((row) => row.id <= newest && takesType(endpoint.events, feedEventOf(row).type));
    afterId = rows.at(-1)?.id ?? newest;
  }
}

async function resend(store: Store, endpoint: WebhookEndpoint, rows: AsyncIterable<EventRow>) {
  const clock = systemClock();
  using sender = await senderTo(endpoint);
  const counts = { taken: 0, left: 0, notTried: 0 };
  let isOpen = true;
  for await (const row of rows) {
    if (!isOpen) {
      counts.notTried += 1;
      if (counts.notTried === MOST_AT_ONCE) break;
      continue;
    }
    const outcome = await sender.send(feedEventOf(row));
    if (outcome.kind !== 'taken') {
      counts.left += 1;
      process.stderr.write(`event ${row.id} of ${row.account}: ${outcomeText(outcome)}\n`);
      isOpen = outcome.kind !== 'unavailable';
      continue;
    }
    counts.taken += 1;
    const letter = { endpoint: endpoint.name, account: row.account, eventId: row.id, now: clock.now() };
    await store.forAccount(row.account).writer.write((tx) => deliverDeadLetter(tx, letter));
  }
  return counts;
}

function endpointOf(config: Config, name: string): WebhookEndpoint {
  const { endpoints } = webhooksSettings.of(config).webhooks;
  const names = endpoints.map((one) => one.name);
  const found = endpoints.find((one) => one.name === name);
  if (found !== undefined) return found;
  const meant = suggestion(name, names);
  const advice = meant === undefined ? 'order-sync webhooks list shows the names' : `did you mean ${meant}?`;
  throw new CommandError(EXIT.absent, `webhooks.endpoints names no endpoint ${name}; ${advice}`);
}

async function senderTo(endpoint: WebhookEndpoint): Promise<WebhookSender> {
  const { webhookSender } = await import('./sender.ts');
  return webhookSender({ endpoint, clock: systemClock() });
}

function outcomeText(outcome: DeliveryOutcome): string {
  if (outcome.kind === 'taken') return 'delivered';
  const isRefused = outcome.kind === 'refused';
  const cause = isRefused ? `it answers ${outcome.status}` : outcome.cause;
  return `${isRefused ? 'refused' : 'not delivered'}: ${cause}; ${receiverRemedy(cause)}`;
}
