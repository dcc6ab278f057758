import type { Command } from 'commander';
import { parse, stringify } from 'lossless-json';
import type { App } from '../app.ts';
import type { Reply } from '../exchange/reply.ts';
import { pathId, UnusableIdError } from '../exchange/ids.ts';
import { refusalReason } from '../exchange/refusals.ts';
import type { Outcome } from '../http/control/answer.ts';
import type { OwnerRequest } from '../http/control/client.ts';
import { printable } from '../reports/formats/text.ts';
import { CommandError, EXIT } from './exit.ts';
import { exchangeConfig } from './options.ts';
import { throughOwner } from './owner.ts';

/** One operation of the exchange: how a daemon is asked for it, and how it is done where there is none. */
export interface Question extends OwnerRequest {
  readonly alone: (app: App) => Promise<Reply<unknown>>;
  /** What a 404 means: `no link "a"`. */
  readonly absent?: string;
}

/** Asks the exchange, through the owner of the account or as the owner. What it answered, as JSON with every digit. */
export async function answerTo(program: Command, question: Question): Promise<string> {
  const outcome = await throughOwner<Outcome>(
    exchangeConfig(program),
    (owner) => owner.ask(question),
    (app) => question.alone(app),
  );
  if (outcome.kind !== 'ok') throw trouble(outcome, question.absent);
  return outcome.body;
}

/** Prints an answer: as the exchange wrote it, or one line a field for people. */
export function printAnswer(body: string, asJson: boolean | undefined): void {
  process.stdout.write(asJson === true ? `${body}\n` : asFields(body));
}

/** The path of a link in the control socket. Throws `UnusableIdError` on an id that cannot be sent. */
export function linkPath(linkId: string): string {
  return `/clients/${pathId(linkId)}`;
}

/** What a 404 means for a link. */
export function noLink(linkId: string): string {
  // An address given by mistake is to stand in no error.
  return linkId.includes('@') ? 'an e-mail address is no link id: no such link' : `no link ${JSON.stringify(linkId)}`;
}

/** One line a field of a JSON object, for people. */
function asFields(body: string): string {
  const fields = Object.entries(parse(body) as Record<string, unknown>);
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${printable(name).padEnd(width)}  ${asText(value)}\n`).join('');
}

function asText(value: unknown): string {
  return printable(typeof value === 'string' ? value : stringify(value));
}

/** A reason of ours, or what the exchange said. Never quotes an e-mail address or a token. */
export function trouble(outcome: Exclude<Outcome, { kind: 'ok' }>, absent?: string): Error {
  switch (outcome.kind) {
    case 'refused':
      return new CommandError(EXIT.look, refusal(outcome, absent));
    case 'key-refused':
      return new CommandError(EXIT.keyRefused, 'the exchange refuses the key (401); check exchange.apiKey');
    case 'rate-limited':
      return new CommandError(EXIT.unavailable, 'the exchange limits the rate (429); try again later');
    case 'not-sent':
      return new CommandError(EXIT.unavailable, `nothing was sent to the exchange: ${outcome.why}; try again`);
    case 'unknown':
      return new CommandError(EXIT.unavailable, `there is no answer of the exchange that can be used: ${outcome.why}`);
    case 'unusable':
      return new UnusableIdError(outcome.message);
    case 'invalid':
      if (outcome.httpStatus === 404) {
        const message = 'the daemon does not know this operation, it may be of another version; start it again';
        return new CommandError(EXIT.unavailable, message);
      }
      return new CommandError(EXIT.usage, `the daemon does not take this: ${outcome.message}`);
    case 'failed':
      return new CommandError(EXIT.unavailable, `the daemon could not do it: ${outcome.message}`);
  }
}

function refusal(outcome: Extract<Outcome, { kind: 'refused' }>, absent: string | undefined): string {
  const { message, status, code } = outcome.error;
  const said = `HTTP ${outcome.httpStatus} ${printable(status ?? code)}: ${printable(message)}`;
  switch (refusalReason(outcome)) {
    case 'invalid-email':
      return `the exchange does not take the e-mail address (${said})`;
    case 'link-already-exists':
      return `there is a link for this e-mail address already (${said})`;
    case 'upload-url-not-set':
      return `the exchange has no address to deliver photos to; set it in the merchant settings there (${said})`;
    case 'not-found':
    case 'bad-request':
    case 'other':
      return outcome.httpStatus === 404 && absent !== undefined
        ? `${absent} at the exchange (${said})`
        : `the exchange refused: ${said}`;
  }
}
