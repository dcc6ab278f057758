import { expect, it } from 'vitest';
import { throughOwner } from '../../../src/cli/shared/owner.ts';
import { configOf } from '../../../src/settings/config.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import { scriptedProgram } from '../../support/test-program.ts';

const NOBODY = { ask: async () => undefined, unreachable: 'nothing', [Symbol.asyncDispose]: async () => {} };

it('work that has begun does not run again if the account is lost', async () => {
  const { program } = await scriptedProgram();
  await program.app[Symbol.asyncDispose]();
  let runs = 0;
  const working = throughOwner(configOf(program.config, 'default'), [], NOBODY, async () => {
    runs += 1;
    throw new OwnedError('another process has taken over the account');
  });
  await expect(working).rejects.toThrow(OwnedError);
  expect(runs).toBe(1);
});

it('an account that another process owns is asked for again until it is free', async () => {
  const { program } = await scriptedProgram();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked === 2) await program.app[Symbol.asyncDispose]();
    return undefined;
  };
  const done = await throughOwner(configOf(program.config, 'default'), [], { ...NOBODY, ask }, async () => 'done');
  expect([done, asked]).toEqual(['done', 2]);
});
