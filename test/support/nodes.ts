import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Every Node of this machine: that of the system may be an older one than that of the checkout. */
export const NODES = [
  ...new Set(
    [process.execPath, ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))]
      .filter((path) => existsSync(path))
      .map((path) => realpathSync(path)),
  ),
];
