import { adoptLink, linksPass } from '../../src/extensions/clients/links.ts';
import type { ScriptedAnswer, ScriptedRequest } from './scripted-exchange.ts';
import { scriptedProgram, type TestProgram, type TestProgramOptions } from './test-program.ts';
import { MINUTE } from './tracking.ts';

const NEVER = new AbortController().signal;
export const CLIENT = '/api/v1/merchant/client';
/** The documented answer that there is no such link. */
export const LINK_NOT_FOUND: ScriptedAnswer = {
  status: 404,
  body: '{"message":"link not found","code":"404","status":"NOT_FOUND"}',
};

/** The answer that there is this link (§4.3). */
export function link(linkId: string, status = 'NOT_VERIFIED'): ScriptedAnswer {
  return { status: 200, body: JSON.stringify({ linkId, status, unheard: 1.1 }) };
}

/** The id that a look-up of a link asks for. */
export const idOf = ({ path }: ScriptedRequest) => decodeURIComponent(path.slice(CLIENT.length + 1));

/** Links that are remembered, and an exchange whose answers about them the test sets, by id. */
export async function linked(ids: readonly string[], options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  const answers = new Map<string, ScriptedAnswer>();
  const asked: string[] = [];
  const toLookUp = (request: ScriptedRequest) => {
    asked.push(idOf(request));
    return answers.get(idOf(request)) ?? link(idOf(request));
  };
  exchange.answer = toLookUp;
  for (const linkId of ids) {
    await adoptLink(program.app, { linkId, reference: null });
    program.clock.advance(1);
  }
  asked.length = 0;
  return {
    program,
    exchange,
    log: program.log,
    answers,
    asked,
    toLookUp,
    pass: async (signal = NEVER) => {
      program.clock.advance(10 * MINUTE);
      await linksPass(program.app, signal);
    },
  };
}

/** The rows of `links`. */
export function rows(program: TestProgram): Record<string, unknown>[] {
  return program.merchant.prepare('select * from links order by link_id').all() as Record<string, unknown>[];
}

/** `field old → new source` of one link, in order. */
export function history(program: TestProgram, linkId: string): string[] {
  const events = program.merchant
    .prepare(`select * from events where type = 'link' and subject = ? order by id`)
    .all(linkId);
  return (events as Record<string, unknown>[]).map(
    ({ field, old_value, new_value, source }) =>
      `${String(field)} ${String(old_value)} → ${String(new_value)} ${String(source)}`,
  );
}
