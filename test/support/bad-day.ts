import { once } from 'node:events';
import { startCommand } from './cli-process.ts';

/** Starts the demonstration of a bad day, all of it in a folder, and returns once its dashboard is there. */
export async function startBadDay(folder: string) {
  const options = { cwd: folder, environment: { TMPDIR: folder } };
  const demo = startCommand(['demo', '--scenario', 'bad-day', '--hold'], options);
  let said = '';
  demo.process.stdout?.on('data', (text: string) => (said += text));
  const ended = demo.finished.then(({ stderr }) => Promise.reject(new Error(stderr)));
  while (!said.includes('Ctrl-C')) await Promise.race([once(demo.process.stdout!, 'data'), ended]);
  ended.catch(() => undefined);
  const [, url = ''] = /^The dashboard: (\S+)$/m.exec(said) ?? [];
  const [, settings = ''] = /--config\s+(\S+)/.exec(said) ?? [];
  return {
    url,
    settings,
    async stop() {
      demo.process.kill('SIGINT');
      return await demo.finished;
    },
  };
}
