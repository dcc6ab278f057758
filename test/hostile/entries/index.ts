import type { Entry } from '../entry.ts';
import { answers } from './answers.ts';
import { commandLine } from './command-line.ts';
import { control } from './control.ts';
import { document } from './document.ts';
import { imports } from './imports.ts';
import { ops } from './ops.ts';
import { photos } from './photos.ts';
import { receivers } from './receivers.ts';
import { reports } from './reports.ts';
import { rows } from './rows.ts';
import { settings } from './settings.ts';
import { wire } from './wire.ts';

/** Every entry. The form of an input is its own matter. */
export const ENTRIES = [
  rows,
  settings,
  imports,
  answers,
  wire,
  photos,
  control,
  document,
  ops,
  receivers,
  reports,
  commandLine,
] as readonly unknown[] as readonly Entry<unknown>[];
