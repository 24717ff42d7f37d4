import type { LightLoad } from './load/light-load.ts';
import type { DrillMesh } from './mesh/drill-mesh.ts';

/** Throws as long as it cannot be done, or is not so yet. */
type Step = (mesh: DrillMesh, load: LightLoad) => Promise<void>;

/** A fault, and what is seen of it. */
export type Drill = {
  name: string;
  /** What is broken, in one line. */
  purpose: string;
  /** The alerts that it makes fire, where Prometheus watches. */
  alerts: readonly string[];
  /** Before the mesh starts: answers settings beside the usual ones. */
  prepare?(home: string): Promise<Readonly<Record<string, string>>>;
  cause: Step;
  /** The fault shows where an operator would look. */
  effect: Step;
  /** Ends the fault, as the guides say. */
  end: Step;
  /** Nothing of it shows any more. */
  recovered: Step;
  /** After the mesh has stopped. */
  cleanUp?(home: string): Promise<void>;
};
