import { styleText } from 'node:util';
import type { Screen } from '../../reports/formats/terminal/screen.ts';

/** The terminal that a stream leads to, or lines of any length. Colour is as Node has it: NO_COLOR and FORCE_COLOR decide first. */
export function screenOf(stream: NodeJS.WriteStream = process.stdout): Screen {
  const width = stream.isTTY && stream.columns > 0 ? stream.columns : Infinity;
  return { width, hasColour: styleText('bold', ' ', { stream }) !== ' ' };
}
