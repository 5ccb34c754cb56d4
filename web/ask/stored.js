// What this tab remembers over a reload: the token and the conversation.

/** The token comes in the fragment, which no server and no log sees, and leaves the address bar at once. */
export function takeToken() {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token) {
    storeToken(decodeURIComponent(token));
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem('knowhy.token') ?? '';
}

/** Remembers a token that was typed in. */
export function storeToken(token) {
  sessionStorage.setItem('knowhy.token', token);
}

/** `{applicationId, chatId}` of the conversation that was open; both may be missing. */
export function readStoredChat() {
  try {
    return JSON.parse(sessionStorage.getItem('knowhy.chat') ?? '{}');
  } catch {
    return {};
  }
}

/** Remembers which conversation is open; without a chat, a new one. */
export function storeChat({ application, chatId }) {
  sessionStorage.setItem('knowhy.chat', JSON.stringify({ applicationId: application?.id, chatId }));
}
