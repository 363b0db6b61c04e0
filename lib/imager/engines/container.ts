/** The container engine's plans: everything is fetched and pinned as ever, then one step hands it to an imager image. */
import { stringify } from "yaml";
import type { AssetKind } from "../../domain/asset.ts";
import { imagerFileName } from "../../domain/asset-path.ts";
import type { Phase } from "../../domain/build-phases.ts";
import { imageLabels } from "../../domain/image-labels.ts";
import { type ProfilePlaces, recipeProfile } from "../../domain/imager-profile/of-recipe.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import { extensionImage, type PinnedImage } from "../../domain/release.ts";
import { AppError } from "../../errors/app-error.ts";
import { CONTAINER } from "../../exec/container/types.ts";
import { type PlanBuilder, planBuilder } from "../plan/builder.ts";
import { isStockInitramfs } from "../plan/initramfs.ts";
import { addKernel, addSdStub, addStockInitramfs, addStockSdBoot } from "../plan/inputs.ts";
import { installerReference } from "../plan/installer.ts";
import { signingOf } from "../plan/secure-boot.ts";
import { planAsset as planNatively } from "../plan.ts";
import type { Json } from "../types.ts";
import type { Engine } from "./engine.ts";

const PHASE: Record<Exclude<AssetKind, "kernel" | "cmdline">, Phase> = {
  initramfs: "initramfs",
  uki: "uki",
  iso: "iso",
  image: "disk",
  installer: "installer",
};

/** An engine that runs `imager`, or without one the imager image of the release itself. */
export function containerEngine(imager: PinnedImage | null): Engine {
  return {
    planAsset(recipe) {
      if (isPlain(recipe)) return planNatively(recipe);
      const b = planBuilder();
      const file = addImager(b, recipe, imager);
      return b.finish(recipe, recipe.profile.kind === "installer" ? addArchive(b, recipe, file) : file);
    },
    planInstallerManifest(recipe) {
      const b = planBuilder();
      const contents = addContents(b, addImager(b, recipe, imager));
      const manifest = b.step({
        id: "installer",
        op: "installer-manifest",
        phase: "installer",
        title: "Put the layers together into one image",
        params: { arch: recipe.profile.arch, labels: imageLabels(recipe), whole: true },
        needs: [contents],
        part: false,
      });
      return { ...b.finish(recipe, manifest), fileName: "manifest.json" };
    },
  };
}

/** Files that no imager makes, but copies or prints: the same whichever engine is used. */
function isPlain(recipe: Recipe): boolean {
  const { kind } = recipe.profile;
  return kind === "kernel" || kind === "cmdline" || (kind === "initramfs" && isStockInitramfs(recipe));
}

/** Adds the run of the imager and everything it is given; gives its id. */
function addImager(b: PlanBuilder, recipe: Recipe, imager: PinnedImage | null): string {
  const { profile, embeddedConfig, version } = recipe;
  const { kind } = profile;
  if (kind === "kernel" || kind === "cmdline")
    throw new AppError("internal", `no imager is run for a ${kind}`, { retryable: false });
  if (kind === "uki" && !quirks(version).uki) planNatively(recipe);
  const signing = signingOf(recipe);
  const { repository, digest } = imager ?? recipe.imager;
  const image = b.imageLayers({ id: "imager-image", repository, digest, arch: "host" });
  const given = gatherInputs(b, recipe);
  const file = imagerFileName(profile);
  return b.step({
    id: "imager",
    op: "imager-container",
    phase: PHASE[kind],
    title: `Let the imager image make ${file}`,
    params: {
      profile: stringify(recipeProfile(recipe, given.places), { lineWidth: 0 }),
      inputs: given.inputs.map(({ path, layout }) => ({ path, layout })),
      file,
      config: embeddedConfig,
      ...(signing === null ? {} : { ...signing }),
    },
    needs: [image, ...given.inputs.map(({ id }) => id)],
    part: false,
  });
}

interface Given {
  /** In the order of the step's needs; `path` is relative to the folder the imager sees. */
  inputs: { id: string; path: string; layout: string | null }[];
  places: ProfilePlaces;
}

function gatherInputs(b: PlanBuilder, recipe: Recipe): Given {
  const { profile, baseInstaller, overlay, extensions, version } = recipe;
  const { arch } = profile;
  const inputs: Given["inputs"] = [];
  const place = (id: string, path: string, layout: Given["inputs"][number]["layout"] = null): string => {
    inputs.push({ id, path, layout });
    return `${CONTAINER.input}/${path}`;
  };
  const image = (id: string, { repository, digest }: PinnedImage, of: typeof arch | "host"): string =>
    place(b.imageLayers({ id, repository, digest, arch: of }), id, of);
  const file = (id: string, path: string) => place(id, path);
  const more = profile.kind !== "initramfs";
  const loaders = more && quirks(version).uki;
  const board = overlay === null || !more ? null : overlay;
  const installed =
    board && (board.installer ?? { repository: board.entry.image, digest: board.entry.digest });
  const places: ProfilePlaces = {
    keys: CONTAINER.keys,
    initramfs: file(addStockInitramfs(b, recipe), "initramfs.xz"),
    ...(more ? { kernel: file(addKernel(b, recipe), "vmlinuz") } : {}),
    ...(loaders
      ? {
          sdStub: file(addSdStub(b, recipe), "systemd-stub.efi"),
          sdBoot: file(addStockSdBoot(b, recipe), "systemd-boot.efi"),
        }
      : {}),
    ...(baseInstaller === null ? {} : { baseInstaller: image("base-installer", baseInstaller, arch) }),
    ...(board === null
      ? {}
      : {
          overlay: image("overlay", { repository: board.entry.image, digest: board.entry.digest }, "host"),
        }),
    ...(!installed ? {} : { overlayInstaller: image("overlay-installer", installed, arch) }),
    extensions: extensions.map((extension, position) =>
      image(`extension-image-${position}`, extensionImage(extension), arch),
    ),
    ...(recipe.schematicId === "" ? {} : { schematic: file(addSchematic(b, recipe), "schematic.tar") }),
  };
  return { inputs, places };
}

function addSchematic(b: PlanBuilder, { version, schematicId, schematicText, externalUrl }: Recipe): string {
  return b.step({
    id: "schematic-archive",
    op: "schematic-archive",
    phase: "extensions",
    title: "Make the extension that names the schematic",
    params: { version, schematicId, schematicText, externalUrl },
    needs: [],
    part: false,
  });
}

/** Takes the imager's archive apart, so that the image can say what it is in our words. */
const addContents = (b: PlanBuilder, archive: string): string =>
  b.step({
    id: "installer-contents",
    op: "installer-contents",
    phase: "installer",
    title: "Take the installer's layers out of the archive",
    params: {},
    needs: [archive],
    part: false,
  });

function addArchive(b: PlanBuilder, recipe: Recipe, archive: string): string {
  const labels: Json = imageLabels(recipe);
  return b.step({
    id: "installer",
    op: "installer-archive",
    phase: "installer",
    title: "Put the layers together into one archive",
    params: { arch: recipe.profile.arch, labels, reference: installerReference(recipe), whole: true },
    needs: [addContents(b, archive)],
    part: false,
  });
}
