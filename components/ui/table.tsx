/** The heads of a table, and the table that folds on narrow screens: there each row is a block of its own. */
import type { ReactNode } from "react";

/** Class of a column's head, without its side. */
export const HEAD_CELL = "px-3 pb-2 font-semibold first:pl-0 last:pr-0";

interface HeadProps {
  columns: readonly ReactNode[];
  /** Classes that say to which side the texts lean. */
  align?: string;
  /** True: seen on wide screens only; others hear it. */
  folds?: boolean;
}

export function TableHead({ columns, align = "text-left", folds = false }: HeadProps) {
  return (
    <thead className={folds ? "eyebrow max-md:sr-only" : "eyebrow"}>
      <tr>
        {columns.map((column, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
          <th key={index} scope="col" className={`${HEAD_CELL} ${align}`}>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface FoldingProps extends Omit<HeadProps, "folds"> {
  className?: string;
  /** The rows. */
  children: ReactNode;
}

export function FoldingTable({ className = "", children, ...head }: FoldingProps) {
  return (
    <table className={`w-full max-md:block ${className}`}>
      <TableHead {...head} folds />
      <tbody className="max-md:block">{children}</tbody>
    </table>
  );
}
