import type { Command } from 'commander';
import { controlDocument } from '../../http/control/openapi.ts';

/** `order-sync openapi`: what the control socket of the daemon offers. */
export function registerOpenApi(program: Command): void {
  program
    .command('openapi')
    .description("the OpenAPI 3.1 document of the daemon's control socket; needs no settings")
    .option('--json', 'the document is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync openapi > openapi.json')
    .action(async () => {
      const document = await controlDocument(program.version() ?? '');
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    });
}
