import { AppError } from '@pixmesh/kernel/app-error';

/** What the control API says where something stands otherwise. */
export function conflict(publicMessage: string, cause?: unknown): AppError {
  return new AppError('CONFLICT', { publicMessage, cause });
}
