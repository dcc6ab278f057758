import { parseArgs } from 'node:util';
import { DIALECTS, PLANS, promotionPlan, type Dialect } from './doses.ts';
import { PROMOTION_NAMES, type PromotionName } from './promoted.ts';
import { promote, runOn, upgrade } from './run.ts';
import { UPGRADE_NAMES } from './upgrade.ts';

const USAGE = `usage: npm run windtunnel -- [--small] [--seed N] [--dialect ${DIALECTS.join('|')}]
       npm run windtunnel -- --promotion ${PROMOTION_NAMES.join('|')} [--small] [--seed N]
       npm run windtunnel -- --upgrade ${UPGRADE_NAMES.join('|')} [--seed N]
  --small      less of everything, with 25 kills all the same
  --seed N     what happens when, and with what (1)
  --dialect    on that database alone
  --promotion  a standby of PostgreSQL is promoted, once
  --upgrade    workers of the version before give way to those of this one, on PostgreSQL
Real processes and real connections: two runs of a seed have the same plan, and never the same moments. Exit 1 if a promise was
broken.
`;

const { values } = parseArgs({
  options: {
    small: { type: 'boolean' },
    seed: { type: 'string', default: '1' },
    dialect: { type: 'string' },
    promotion: { type: 'string' },
    upgrade: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const chosen = DIALECTS.filter((dialect) => values.dialect === undefined || values.dialect === dialect);
const promotion = PROMOTION_NAMES.find((name) => name === values.promotion);
const upgraded = UPGRADE_NAMES.find((name) => name === values.upgrade);
const isWrong =
  chosen.length === 0 ||
  (promotion === undefined && values.promotion !== undefined) ||
  (upgraded === undefined && values.upgrade !== undefined);
if (values.help === true || isWrong) {
  process.stdout.write(USAGE);
  if (isWrong) process.exitCode = 64;
} else if (promotion !== undefined) await runPromotion(promotion);
else if (upgraded !== undefined) tell(await upgrade({ name: upgraded, seed: Number(values.seed) }, say));
else {
  for (const dialect of chosen) await run(dialect);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function runPromotion(name: PromotionName): Promise<void> {
  const plan = promotionPlan(values.small === true ? 'small' : 'full', name, Number(values.seed));
  const result = await promote(plan, say);
  tell({ ...plan, ...result });
}

function tell<Result extends { readonly violations: readonly string[] }>(result: Result): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  if (result.violations.length > 0) process.exitCode = 1;
}

async function run(dialect: Dialect): Promise<void> {
  const dose = PLANS[values.small === true ? 'small' : 'full'][dialect];
  const { takeOverMs, ...rest } = await runOn(dialect, { ...dose, seed: Number(values.seed) }, say);
  const middle = Math.round(takeOverMs[Math.floor(takeOverMs.length / 2)] ?? 0);
  const worst = Math.round(takeOverMs.at(-1) ?? 0);
  const takeOver = { accounts: takeOverMs.length, medianMs: middle, worstMs: worst };
  tell({ dialect, ...rest, takeOver });
}
