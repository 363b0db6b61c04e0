/** The three large clouds: from a disk image to an image machines are started from. */
import { fileStem, imageLabel, offersPlatform } from "./addresses.ts";
import { chain, command, fetchSteps, unpacked } from "./shell.ts";
import type { Snippet, SnippetContext } from "./types.ts";

/** EC2 asks for UEFI first where a disk starts both ways; Graviton knows nothing else. */
const bootMode = ({ arch, bootloader }: SnippetContext): string =>
  arch === "arm64" || bootloader === "sd-boot" ? "uefi" : "uefi-preferred";

const aws: Snippet = {
  id: "aws",
  name: "AWS",
  group: "cloud",
  applies: (context) => offersPlatform(context, "aws"),
  fits: ({ platform }) => platform === "aws",
  write(context) {
    const path = `${fileStem(context, "aws")}.raw.xz`;
    const raw = unpacked(path);
    const label = imageLabel(context);
    return {
      language: "sh",
      variables: [
        { name: "BUCKET", value: "my-images", note: "s3-bucket" },
        { name: "REGION", value: "eu-central-1", note: "region" },
      ],
      body: `export AWS_REGION="$REGION"\n${chain([
        ...fetchSteps(context, path),
        ...raw.steps,
        `aws s3 cp ${raw.name} "s3://$BUCKET/${label}.raw"`,
        `TASK=$(${command([
          `aws ec2 import-snapshot --description ${label} --query ImportTaskId --output text`,
          `--disk-container "Format=RAW,UserBucket={S3Bucket=$BUCKET,S3Key=${label}.raw}")`,
        ])}`,
        'aws ec2 wait snapshot-imported --import-task-ids "$TASK"',
        `SNAPSHOT=$(${command([
          'aws ec2 describe-import-snapshot-tasks --import-task-ids "$TASK" --output text',
          "--query 'ImportSnapshotTasks[0].SnapshotTaskDetail.SnapshotId')",
        ])}`,
        command([
          `aws ec2 register-image --name ${label} --architecture ${context.arch === "arm64" ? "arm64" : "x86_64"}`,
          `--virtualization-type hvm --ena-support --boot-mode ${bootMode(context)} --root-device-name /dev/xvda`,
          '--block-device-mappings "DeviceName=/dev/xvda,Ebs={SnapshotId=$SNAPSHOT,VolumeSize=20,VolumeType=gp3}"',
        ]),
      ])}`,
      files: [path],
    };
  },
};

const gcp: Snippet = {
  id: "gcp",
  name: "Google Cloud",
  group: "cloud",
  applies: (context) => offersPlatform(context, "gcp"),
  fits: ({ platform }) => platform === "gcp",
  write(context) {
    const path = `${fileStem(context, "gcp")}.raw.tar.gz`;
    const label = imageLabel(context);
    return {
      language: "sh",
      variables: [{ name: "BUCKET", value: "my-images", note: "bucket" }],
      body: chain([
        ...fetchSteps(context, path),
        `gcloud storage cp ${path} "gs://$BUCKET/${label}.tar.gz"`,
        command([
          `gcloud compute images create ${label} --source-uri="gs://$BUCKET/${label}.tar.gz"`,
          `--architecture=${context.arch === "arm64" ? "ARM64" : "X86_64"}`,
          "--guest-os-features=VIRTIO_SCSI_MULTIQUEUE,GVNIC,UEFI_COMPATIBLE",
        ]),
      ]),
      files: [path],
    };
  },
};

/** Trusted launch takes keys of others only through templates, so signed images are left out here. */
const azure: Snippet = {
  id: "azure",
  name: "Microsoft Azure",
  group: "cloud",
  applies: (context) => !context.secureboot && offersPlatform(context, "azure"),
  fits: (context) => context.platform === "azure" && !context.secureboot,
  write(context) {
    const path = `${fileStem(context, "azure")}.vhd.xz`;
    const vhd = unpacked(path);
    const label = imageLabel(context);
    const place = `--resource-group "$GROUP" --gallery-name "$GALLERY"`;
    const release = context.version.replace(/^v/, "").replace(/-.*$/, "");
    return {
      language: "sh",
      variables: [
        { name: "GROUP", value: "talos", note: "resource-group" },
        { name: "LOCATION", value: "westeurope", note: "location" },
        { name: "ACCOUNT", value: "mytalosimages", note: "storage-account" },
        { name: "GALLERY", value: "talos", note: "gallery" },
      ],
      body: chain([
        ...fetchSteps(context, path),
        ...vhd.steps,
        'az group create --name "$GROUP" --location "$LOCATION"',
        'az storage account create --name "$ACCOUNT" --resource-group "$GROUP" --location "$LOCATION"',
        'KEY=$(az storage account keys list --account-name "$ACCOUNT" --resource-group "$GROUP" --query "[0].value" --output tsv)',
        'az storage container create --account-name "$ACCOUNT" --account-key "$KEY" --name images',
        command([
          'az storage blob upload --account-name "$ACCOUNT" --account-key "$KEY" --container-name images',
          `--type page --overwrite --file ${vhd.name} --name ${label}.vhd`,
        ]),
        `az sig create ${place} --location "$LOCATION"`,
        command([
          `az sig image-definition create ${place} --gallery-image-definition ${label}`,
          `--publisher talos --offer talos --sku ${label} --os-type Linux --os-state Generalized`,
          `--hyper-v-generation V2 --architecture ${context.arch === "arm64" ? "Arm64" : "x64"}`,
        ]),
        command([
          `az sig image-version create ${place} --gallery-image-definition ${label} --gallery-image-version ${release}`,
          `--os-vhd-storage-account "$ACCOUNT" --os-vhd-uri "https://$ACCOUNT.blob.core.windows.net/images/${label}.vhd"`,
        ]),
      ]),
      files: [path],
    };
  },
};

export const CLOUD_SNIPPETS: readonly Snippet[] = [aws, gcp, azure];
