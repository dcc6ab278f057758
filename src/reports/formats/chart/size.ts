import type { EChartsOption } from 'echarts';

/** A page is wide, or narrow as a phone's. Lengths are in pixels of the drawing, which is shown at about its own size. */
export interface Size {
  readonly name: 'wide' | 'narrow';
  readonly width: number;
  /** The width of one of several panels. */
  readonly panelWidth: number;
  readonly fontSize: number;
}

/** Every chart is drawn once for each. */
export const SIZES: readonly Size[] = [
  { name: 'wide', width: 760, panelWidth: 370, fontSize: 12.5 },
  { name: 'narrow', width: 330, panelWidth: 330, fontSize: 12 },
];

/** What the library is to draw. */
export interface Drawing {
  readonly option: EChartsOption;
  readonly width: number;
  readonly height: number;
}
