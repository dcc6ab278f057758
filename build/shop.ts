import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The modules that a shop imports, each a file of its own. */
export const SHOP = ['client', 'webhooks', 'schema'] as const;

/** Makes of them JavaScript that any Node from 20 on reads, and other engines: a shop chooses its own. */
export async function bundleShop(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: SHOP.map((one) => join('src/extensions/shop', `${one}.ts`)),
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    external: ['node:*'],
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    lineLimit: 160,
    logLevel: 'warning',
  });
}
