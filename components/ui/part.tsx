/** A titled part of a page, below a line. */
import type { ReactNode } from "react";

interface Props {
  /** Of the title, which names the part. */
  id: string;
  title: string;
  className?: string;
  children: ReactNode;
}

export function Part({ id, title, className = "space-y-3", children }: Props) {
  return (
    <section aria-labelledby={id} className={`border-t border-line pt-6 ${className}`}>
      <h2 id={id} className="text-lg font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}
