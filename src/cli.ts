import { explainError } from './cli/shared/exit.ts';
import { createProgram } from './cli/program.ts';
import { EXTENSIONS } from './extensions.ts';

// Database and report files contain people's orders, so other users may open no file of this process.
process.umask(0o077);
// A reader of the output may end early (`| head`), which is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') end(error);
});

try {
  const program = await createProgram(process.argv.slice(2), EXTENSIONS);
  program.hook('preAction', async (_program, command) =>
    (await import('./cli/shared/invocation.ts')).noteCall(program, command),
  );
  await program.parseAsync();
} catch (error) {
  end(error);
}
// The listener that a supervisor such as pm2 adds would keep this process alive after the command has ended.
if (process.connected) process.stdout.write('', () => process.exit());

function end(error: unknown): void {
  const { code, message } = explainError(error);
  if (message !== '') process.stderr.write(`order-sync: ${message}\n`);
  process.exitCode = code;
}
