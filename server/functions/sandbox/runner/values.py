# ---- values as JSON ----------------------------------------------------------------------------------------------

class NotJson(Exception):
    pass


def refuse(path, what):
    where = ''.join('[%s]' % clip(repr(key), 60) for key in path[:8])
    raise NotJson('The value%s is %s, which JSON cannot hold.' % (' at ' + where if where else '', what))


def storable(text):
    """Text that a database can hold: pairs of surrogates joined, lone ones replaced, no U+0000."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
    return text.replace('\0', '') if '\0' in text else str.__str__(text)


def plain(value, path, above):
    """A copy made of JSON's types only. Refuses what has no meaning there, by name."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int):
        return whole_number(value, path)
    if isinstance(value, float):
        if value != value or value in (float('inf'), float('-inf')):
            refuse(path, 'NaN' if value != value else 'an infinite number')
        return float(value)
    if not isinstance(value, (dict, list, tuple)):
        return as_text(value, path)
    if id(value) in above:
        refuse(path, 'a container that holds itself')
    if len(path) >= MAX_DEPTH:
        refuse(path, 'nested deeper than %d levels' % MAX_DEPTH)
    above.add(id(value))
    if isinstance(value, dict):
        copy = {key_of(key, path): plain(item, path + [key], above) for key, item in dict.items(value)}
        if len(copy) != dict.__len__(value):
            refuse(path, 'a dict with two keys that are the same text')
    else:
        copy = [plain(item, path + [index], above) for index, item in enumerate(value)]
    above.discard(id(value))
    return copy


def whole_number(value, path):
    """A number that JavaScript would round keeps its digits as text."""
    number = int(value)
    if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
        return number
    try:
        return str(number)
    except ValueError:
        return refuse(path, 'a number of too many digits')


def key_of(key, path):
    if isinstance(key, str):
        return storable(key)
    if key is None or isinstance(key, bool):
        return {None: 'null', True: 'true', False: 'false'}[key]
    if isinstance(key, (int, float)):
        return repr(key)
    return refuse(path, 'a dict with a key of type %s' % type_name(type(key)))


def as_text(value, path):
    kind = (type(value).__module__, type_name(type(value)))
    if kind in DATE_TYPES:
        return value.isoformat()
    if kind in TEXT_TYPES:
        return storable(str(value))
    return refuse(path, 'of type %s' % kind[1])
