/** Makes an element. `properties` are set as they are, `dataset` by key; text among `children` is never markup. */
export function element(tag, { dataset, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}
