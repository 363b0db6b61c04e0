/** Words and positions of decode failures, in the form that clients of the public service know. */
import { type AppError, invalidInput } from "../../errors/app-error.ts";
import { cutText } from "../quote.ts";
import { MAX_PROBLEM_CHARACTERS } from "./limits.ts";

/** A place in the text: line and column start at 1 and count code points. */
export interface Mark {
  line: number;
  column: number;
}

/** What was being read and where it began. */
export interface Construct {
  doing: string;
  from: Mark;
}

type Stage = "reader" | "scanner" | "parser" | "composer" | "resolver" | "constructor";

const HINT = "Check the YAML text at the position named in the message.";

/** A problem with texts out of the document, which may be as long as the document: what is too much is cut off. */
export const boundedProblem = (problem: string): string =>
  problem.length <= MAX_PROBLEM_CHARACTERS ? problem : cutText(problem, MAX_PROBLEM_CHARACTERS);

const short = (mark: Mark): string => `L${mark.line}.C${mark.column}`;

function range(start: Mark, end: Mark): string {
  if (start.line !== end.line) return `${short(start)}-${short(end)}`;
  return start.column === end.column ? short(start) : `${short(start)}-C${end.column}`;
}

/** Error of one stage at a position; null when the stage does not know where it is. */
export function loadError(stage: Stage, problem: string, mark: Mark | null): AppError {
  const place = mark === null ? "<unknown position>" : short(mark);
  return invalidInput(`go-yaml load error in ${stage} at ${place}: ${boundedProblem(problem)}`, {
    hint: HINT,
  });
}

/** Error inside a construct that started earlier, such as an unclosed list. */
export function loadErrorWithin(stage: Stage, context: Construct, problem: string, mark: Mark): AppError {
  const place = range(context.from, mark);
  return invalidInput(
    `go-yaml load error in ${stage} (${context.doing}) at ${place}: ${boundedProblem(problem)}`,
    {
      hint: HINT,
    },
  );
}

/** All type errors of one document, in document order. */
export function constructErrors(problems: string[]): AppError {
  return invalidInput(`yaml: construct errors: ${problems.join("; ")}`, {
    hint: "docs/schematics.md lists the fields of a schematic and their types.",
  });
}
