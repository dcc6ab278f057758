import { readFileSync } from 'node:fs';

/** Clock ticks a second of `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
const TICKS = 100;

/** CPU that a process has used, all threads, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold anything; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS;
}

/** The most memory that a process ever held (RSS), in MiB; undefined when it has ended. */
export function peakMemoryMib(pid: number): number | undefined {
  return memoryMib(pid, 'VmHWM');
}

/** Memory of a process in MiB: resident (`VmRSS`), and of that what no file holds (`RssAnon`); undefined when it has ended. */
export function memoryMib(pid: number, kind: 'VmHWM' | 'VmRSS' | 'RssAnon'): number | undefined {
  try {
    const [, kib] = new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) / 1_024;
  } catch {
    return undefined;
  }
}

/** Milliseconds of the clock that all processes of the machine share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The CPU time of ended children in seconds, from what the shell's `times` prints, such as `0m0.060s 0m0.020s` in its second line. */
export function secondsOfChildren(printed: string): number {
  const [, children = ''] = printed.split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
}
