// Which thrown errors are clean refusals: those whose whole message is a known text of a condition.

/** A placeholder of a template, such as `{seq}`; it stands for any text, line breaks included. */
const PLACEHOLDER = /\{[A-Za-z][A-Za-z0-9_]*\}/;

/**
 * @param {string} template - a known text, perhaps with placeholders.
 * @returns {RegExp} matches exactly the messages that the template describes.
 */
function matcherOf(template) {
  const literals = template.split(PLACEHOLDER).map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(`^${literals.join('.*')}$`, 's');
}

/**
 * @param {{conditions: {condition: string, texts: string[]}[]}} content - the parsed texts file.
 * @returns {(message: string) => string | undefined} the condition of a message; the first of several.
 */
export function knownTexts(content) {
  const known = content.conditions.flatMap(({ condition, texts }) =>
    texts.map((text) => ({ condition, matcher: matcherOf(text) })));
  return (message) => known.find(({ matcher }) => matcher.test(message))?.condition;
}
