/** A folder that cannot be indexed as a whole; a single bad file is part of the report instead. */
export class FolderError extends Error {
  readonly code: 'folder_not_found' | 'folder_unreadable' | 'folder_has_no_documents';

  constructor(code: FolderError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FolderError';
    this.code = code;
  }
}
