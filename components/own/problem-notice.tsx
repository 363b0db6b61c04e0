/** Why the last change was not made, as the address of the page tells it. */
import { Notice } from "../ui/notice.tsx";
import type { Words } from "../words/translator.ts";

export function ProblemNotice({ words, query }: { words: Words; query: URLSearchParams }) {
  const { t } = words;
  const problem = query.get("problem");
  if (problem === null) return null;
  const refusal = query.get("words");
  return (
    <div role="alert">
      <Notice tone="bad">
        {problem === "refused" && refusal !== null ? (
          <span className="break-words" lang="en">
            {refusal}
          </span>
        ) : (
          t(problem === "token" ? "own.problem.token" : "own.problem.sign-in")
        )}
      </Notice>
    </div>
  );
}
