/** The native engine: our own steps make the file. */
import { planAsset, planInstallerManifest } from "../plan.ts";
import type { Engine } from "./engine.ts";

export const nativeEngine: Engine = { planAsset, planInstallerManifest };
