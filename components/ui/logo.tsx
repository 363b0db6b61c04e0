/** The mark: a mould whose notch leads down to the cavity. One path on a 24-unit grid; app/icon.svg holds the same. */
export const LOGO_PATH = "M2.5 2.5h5l3 4.5v3L6.5 13v5h11v-5l-4-3V7l3-4.5h5v19h-19z";

export function Logo({ className = "size-6" }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={className} aria-hidden="true" fill="currentColor">
      <path d={LOGO_PATH} />
    </svg>
  );
}
