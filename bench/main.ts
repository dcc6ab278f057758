import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureThroughput } from './throughput.ts';

const folder = mkdtempSync(join(tmpdir(), 'order-sync-bench-'));
const say = (text: string) => process.stderr.write(`${text}\n`);
try {
  console.log(await measureThroughput(folder, join(folder, 'orders.db'), say));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
