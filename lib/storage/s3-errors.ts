/** What failures of the S3 client mean to us. */
import { S3ServiceException } from "@aws-sdk/client-s3";
import { AppError } from "../errors/app-error.ts";

/** True when the object (not the bucket) is missing. */
export function isAbsence(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  return (
    error.name === "NoSuchKey" ||
    error.name === "NotFound" ||
    (error.$metadata.httpStatusCode === 404 && error.name !== "NoSuchBucket")
  );
}

/** AppError for anything the S3 client throws; `doing` completes "The object store could not …". */
export function toStoreError(error: unknown, doing: string): AppError {
  if (error instanceof AppError) return error;
  const why = error instanceof Error ? error.message || error.name : String(error);
  if (
    error instanceof Error &&
    (error.name === "AbortError" || why === "aborted" || why === "Upload aborted.")
  ) {
    return new AppError("cancelled", `The object store was asked to ${doing}, but the work was cancelled`, {
      cause: error,
    });
  }
  if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 507) {
    return new AppError("out_of_space", `The object store could not ${doing}: it is full`, {
      hint: "Make room in the bucket, or move it to a larger disk.",
      cause: error,
    });
  }
  return new AppError("upstream_unavailable", `The object store could not ${doing}: ${why}`, {
    hint: "Check S3_ENDPOINT, S3_BUCKET and the keys, and that the server is up.",
    retryAfterSeconds: 5,
    cause: error,
  });
}
