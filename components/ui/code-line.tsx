/** One or more lines meant to be pasted, with their copy button and a caption. */
import { CopyButton } from "./copy-button.tsx";

interface Props {
  caption: string;
  text: string;
  /** True: line breaks stay as they are; false: one line that wraps. */
  block?: boolean;
  /** False: for reading only, without the button. */
  copyable?: boolean;
}

export function CodeLine({ caption, text, block = false, copyable = true }: Props) {
  return (
    <div className="min-w-0">
      <div className="mb-1 flex items-end justify-between gap-3">
        <span className="eyebrow">{caption}</span>
        {copyable && <CopyButton text={text} what={caption} />}
      </div>
      <pre
        className={`code ${block ? "" : "whitespace-pre-wrap break-all"}`}
        tabIndex={block ? 0 : undefined}
      >
        <code>{text}</code>
      </pre>
    </div>
  );
}
