/** The bucket itself: made when it is missing, so that a fresh S3 server needs no preparation by hand. */
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  HeadBucketCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";

/** Names of "somebody was faster": two processes of a new installation start at the same time. */
const ALREADY = new Set(["BucketAlreadyOwnedByYou", "BucketAlreadyExists", "OperationAborted"]);

export interface BucketPlace {
  bucket: string;
  region: string;
}

/** Gives true when the bucket was made by this call. Throws the client's own error when it may not or cannot be made. */
export async function ensureBucket(
  client: S3Client,
  { bucket, region }: BucketPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const options = { abortSignal: signal };
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }), options);
    return false;
  } catch (error) {
    if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 404) throw error;
  }
  try {
    await client.send(
      new CreateBucketCommand({ Bucket: bucket, ...(isFirst(region) ? {} : at(region)) }),
      options,
    );
    return true;
  } catch (error) {
    if (error instanceof S3ServiceException && ALREADY.has(error.name)) return false;
    throw error;
  }
}

/** S3 API, CreateBucket: the first region must not be named in the request, every other one must. */
const isFirst = (region: string) => region === "us-east-1";
const at = (region: string) => ({
  CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint },
});
