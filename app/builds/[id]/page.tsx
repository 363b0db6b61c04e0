/** One build: what it makes, how far it is, what it gave. Without scripts the page reloads itself while it runs. */
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { BuildLive } from "../../../components/build/build-live.tsx";
import type { PlannedStep } from "../../../components/build/progress-types.ts";
import { toSnapshot } from "../../../components/build/snapshot.ts";
import { Badge } from "../../../components/ui/badge.tsx";
import { IdMark } from "../../../components/ui/id-mark.tsx";
import { parseAssetPath } from "../../../lib/domain/asset-path.ts";
import { buildFilePath, isBuildId } from "../../../lib/domain/build-record.ts";
import { isRunning } from "../../../lib/domain/build-state.ts";
import { findPlatform } from "../../../lib/domain/platforms.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import type { BuildView, Services } from "../../../lib/services/contracts.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../../page-query.ts";
import { requestWords } from "../../request-words.ts";

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<PageQuery>;
}

const RELOAD_SECONDS = 3;

/** `knowing` is the ID of the schematic, for those who have it. Once per request, for title and page. */
const findBuild = cache(async (id: string, knowing: string | null): Promise<BuildView> => {
  const build = isBuildId(id) ? await pageContext().services.builds.find(id, knowing ?? undefined) : null;
  if (build === null) notFound();
  return build;
});

async function requireBuild({ params, searchParams }: Props): Promise<BuildView> {
  return findBuild((await params).id, toQuery(await searchParams).get("schematic"));
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const build = await requireBuild(props);
  return { title: build.path };
}

/** The steps to come and whether the source is a sample; nothing when the plan can no longer be made. */
async function findPlan(
  services: Services,
  build: BuildView,
): Promise<{ steps: PlannedStep[]; sample: boolean }> {
  try {
    const resolved = await services.assets.resolve(build);
    const { assetKey } = resolved;
    const plan = services.assets.describe(resolved);
    const steps = plan.steps.map(({ title, phase }) => ({ title, phase }));
    return { steps: assetKey === build.assetKey ? steps : [], sample: plan.sample };
  } catch (error) {
    if (isAppError(error)) return { steps: [], sample: false };
    throw error;
  }
}

/** Platform, architecture and SecureBoot as the result page and the PXE address want them. */
function targetOf(path: string) {
  const { platform, arch, secureboot } = parseAssetPath(path);
  const query = new URLSearchParams({ platform, arch, ...(secureboot ? { secureboot: "true" } : {}) });
  const pxe = findPlatform(platform)?.bootMethods.includes("pxe") ?? false;
  return { query, pxe: pxe ? `${platform}-${arch}${secureboot ? "-secureboot" : ""}` : null };
}

export default async function BuildPage(props: Props) {
  const build = await requireBuild(props);
  const words = await requestWords();
  const { t } = words;
  const { services, publicUrl, pxeUrl } = pageContext();
  const { steps, sample } = await findPlan(services, build);
  const { query, pxe } = targetOf(build.path);
  query.set("version", build.version);
  const shown = !build.schematicHidden;
  // A script starts what today's tags give, whatever a lock says.
  const script = build.lockId === null ? pxe : null;
  return (
    <div className="max-w-4xl space-y-6">
      {isRunning(build.state) && (
        <noscript>
          <meta httpEquiv="refresh" content={String(RELOAD_SECONDS)} />
        </noscript>
      )}
      <header className="space-y-2">
        <h1 className="break-all font-mono text-xl font-semibold tracking-tight">{build.path}</h1>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-soft">
          Talos {build.version}
          {sample && <Badge tone="warn">{t("sample.long")}</Badge>}
          {build.schematicHidden ? (
            <span className="inline-flex items-center gap-2" title={t("build.hidden")}>
              <IdMark id={build.schematicId} />
            </span>
          ) : (
            <a href={`/schematics/${build.schematicId}?${query}`} className="inline-flex items-center gap-2">
              <span className="link">{t("build.schematic")}</span>
              <IdMark id={build.schematicId} />
            </a>
          )}
        </p>
      </header>
      <BuildLive
        start={toSnapshot(build)}
        planned={steps}
        url={shown ? publicUrl + buildFilePath(build) : null}
        pxeUrl={
          shown && script !== null ? `${pxeUrl}/pxe/${build.schematicId}/${build.version}/${script}` : null
        }
      />
    </div>
  );
}
