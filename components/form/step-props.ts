/** What every step of the form gets. */
import type { FormField, FormProblem } from "../../lib/domain/form/form-problems.ts";
import type { FormState } from "../../lib/domain/form/form-state.ts";

export interface StepProps {
  form: FormState;
  change: (part: Partial<FormState>) => void;
  /** Problems of one field. */
  problems: (field: FormField) => FormProblem[];
}

/** A release as the form lists it, newest first. */
export interface OfferedVersion {
  /** Without "v". */
  version: string;
  sample: boolean;
}
