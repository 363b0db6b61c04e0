/** The document that tells an imager what to make: what `casthouse imager -` reads and named profiles are made of. */

/** An image: a reference, or a tar file of its tree, or an OCI layout folder (the later two win, tar first). */
export interface ContainerAsset {
  imageRef?: string;
  /** Plain HTTP. */
  forceInsecure?: boolean;
  tarballPath?: string;
  ociPath?: string;
}

export interface FileAsset {
  path?: string;
}

/** Where a key is: in a file, or behind a service. */
export interface SignerInput {
  keyPath?: string;
  certPath?: string;
  signerAddress?: string;
  azureVaultURL?: string;
  awsKMSKeyID?: string;
}

export interface SecureBootInput {
  secureBootSigner?: SignerInput;
  pcrSigner?: SignerInput;
  platformKeyPath?: string;
  keyExchangeKeyPath?: string;
  signatureKeyPath?: string;
  includeWellKnownCerts?: boolean;
}

export interface ImagerProfile {
  /** Profile to inherit from. */
  baseProfileName?: string;
  arch?: string;
  platform?: string;
  /** Missing and null keep what the base profile says. */
  secureboot?: boolean;
  /** Distribution name in unified kernel images, Talos when it is not given. */
  name?: string;
  version?: string;
  customization?: {
    extraKernelArgs?: string[];
    metaContents?: { key: number; value: string }[];
    embeddedMachineConfiguration?: string;
  };
  input?: {
    kernel?: FileAsset;
    initramfs?: FileAsset;
    sdStub?: FileAsset;
    sdBoot?: FileAsset;
    baseInstaller?: ContainerAsset;
    imageCache?: ContainerAsset;
    /** The overlay's image for the architecture of the installer that is to carry it. */
    overlayInstaller?: ContainerAsset;
    systemExtensions?: ContainerAsset[];
    secureboot?: SecureBootInput;
  };
  overlay?: { name?: string; image?: ContainerAsset; options?: Record<string, unknown> };
  output?: {
    kind?: string;
    outFormat?: string;
    imageOptions?: {
      /** Bytes, before what the release adds. */
      diskSize?: number;
      diskFormat?: string;
      diskFormatOptions?: string;
      /** 0 means 512. */
      diskSectorSize?: number;
      bootloader?: string;
      sdBootEnrollKeys?: string;
    };
    isoOptions?: { bootloader?: string; sdBootEnrollKeys?: string };
  };
}
