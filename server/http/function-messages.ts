/** What the function library says: refusals, and why a function gave no value. `{0}`, `{1}` take the values in order. */
export const FUNCTION_MESSAGES = {
  function_forbidden: {
    'zh-CN': '通过分享链接访问时不能使用函数库。',
    'en-US': 'The function library is not open to visitors.',
  },
  function_not_found: { 'zh-CN': '函数不存在。', 'en-US': 'This function does not exist.' },
  function_not_yours: { 'zh-CN': '只有创建者可以修改这个函数。', 'en-US': 'Only its owner can change this function.' },
  function_inactive: {
    'zh-CN': '函数“{0}”未启用，请先由创建者启用。',
    'en-US': 'The function "{0}" is not active; its owner has to switch it on first.',
  },
  function_name_blank: { 'zh-CN': '函数名称不能为空。', 'en-US': 'The name of the function is blank.' },
  function_code_blank: { 'zh-CN': '函数代码不能为空。', 'en-US': 'The code of the function is blank.' },
  function_code_too_long: {
    'zh-CN': '函数代码有 {0} 字节，最多 {1} 字节。',
    'en-US': 'The code of the function has {0} bytes; at most {1} are possible.',
  },
  function_field_twice: { 'zh-CN': '参数“{0}”重复。', 'en-US': 'The parameter "{0}" is declared twice.' },
  function_field_too_deep: {
    'zh-CN': '字段“{0}”的内容嵌套过深，或含有无法精确表示的数字。',
    'en-US': 'The content of the field "{0}" is nested too deep or holds a number that cannot be kept exactly.',
  },
  function_fields_too_long: {
    'zh-CN': '参数定义有 {0} 字节，最多 {1} 字节。',
    'en-US': 'The declarations of the parameters have {0} bytes; at most {1} are possible.',
  },
  function_init_params_too_long: {
    'zh-CN': '启动参数有 {0} 字节，最多 {1} 字节。',
    'en-US': 'The init parameters have {0} bytes; at most {1} are possible.',
  },
  function_secret_masked: {
    'zh-CN': '启动参数“{0}”是隐藏后的值，请重新输入。',
    'en-US': 'The init parameter "{0}" is a masked value; enter it again.',
  },
  function_file_missing: {
    'zh-CN': '没有收到文件，请以 multipart 的 file 字段上传 .fx 文件。',
    'en-US': 'There is no file: send a .fx file as the field file of a multipart body.',
  },
  function_file_too_large: {
    'zh-CN': '文件超过 {0} 字节。',
    'en-US': 'The file has more than {0} bytes.',
  },
  function_file_broken: {
    'zh-CN': '这不是由本系统导出的函数文件，或文件已损坏。',
    'en-US': 'This is no function file that was exported here, or it is damaged.',
  },
  function_file_pickle: {
    'zh-CN': '这是 MaxKB 导出的函数文件（Python pickle），不能导入；请把代码复制到新函数中。',
    'en-US':
      'This is a function file of MaxKB (a Python pickle), which cannot be imported; copy its code into a new function.',
  },
  function_unchecked: { 'zh-CN': '没有检查语法：{0}', 'en-US': 'The syntax was not checked: {0}' },
  function_parameter_missing: { 'zh-CN': '缺少必填参数“{0}”。', 'en-US': 'The parameter "{0}" is required.' },
  function_parameter_wrong: {
    'zh-CN': '参数“{0}”应为 {1} 类型，实际为：{2}',
    'en-US': 'The parameter "{0}" should be of type {1}; it is: {2}',
  },
  function_parameter_inexact: {
    'zh-CN': '参数“{0}”（{1}）的数字超出可精确表示的范围：{2}。请改用 string 类型传递。',
    'en-US': 'The parameter "{0}" ({1}) holds a number too large to be passed on exactly: {2}. Pass it as a string.',
  },
  function_parameter_too_deep: {
    'zh-CN': '参数“{0}”嵌套过深（最多 100 层），或含有无法精确表示的数字。',
    'en-US': 'The parameter "{0}" is nested deeper than 100 levels or holds a number that cannot be kept exactly.',
  },
  function_parameter_unknown: { 'zh-CN': '函数没有参数“{0}”。', 'en-US': 'The function has no parameter "{0}".' },
  function_exception: { 'zh-CN': '函数抛出异常：{0}', 'en-US': 'The function raised an exception: {0}' },
  function_exception_at: {
    'zh-CN': '函数在第 {1} 行抛出异常：{0}',
    'en-US': 'The function raised an exception on line {1}: {0}',
  },
  function_syntax: { 'zh-CN': '代码有语法错误：{0}', 'en-US': 'The code has a syntax error: {0}' },
  function_syntax_at: {
    'zh-CN': '代码第 {1} 行有语法错误：{0}',
    'en-US': 'The code has a syntax error on line {1}: {0}',
  },
  function_no_entrypoint: {
    'zh-CN': '代码没有定义函数。请在顶层用 def 或 async def 定义，最后一个是入口。',
    'en-US': 'The code defines no function: write one at the top level with def or async def; the last one is called.',
  },
  function_unknown_entrypoint: {
    'zh-CN': '代码没有定义名为“{0}”的函数。',
    'en-US': 'The code defines no function named "{0}".',
  },
  function_not_json: {
    'zh-CN': '函数的返回值不能转换为 JSON：{0}',
    'en-US': 'The value of the function is not JSON: {0}',
  },
  function_timeout: {
    'zh-CN': '函数运行超过 {0} 秒，已终止。',
    'en-US': 'The function took longer than {0} s and was stopped.',
  },
  function_memory: {
    'zh-CN': '函数占用的内存超过 {0} MiB，已终止。',
    'en-US': 'The function needed more than {0} MiB of memory and was stopped.',
  },
  function_code_limit: {
    'zh-CN': '代码有 {0} 字节，最多 {1} KiB。',
    'en-US': 'The code has {0} bytes; at most {1} KiB are possible.',
  },
  function_request_limit: {
    'zh-CN': '代码和参数共 {0} 字节，最多 {1} KiB。',
    'en-US': 'Code and parameters have {0} bytes; at most {1} KiB are possible.',
  },
  function_result_limit: {
    'zh-CN': '返回值有 {0} 字节，最多 {1} KiB。',
    'en-US': 'The value has {0} bytes; at most {1} KiB are possible.',
  },
  function_crashed: {
    'zh-CN': 'Python 进程没有给出结果就结束了（{0}）。',
    'en-US': 'The Python process ended without a result ({0}).',
  },
  function_cancelled: { 'zh-CN': '函数的运行已取消。', 'en-US': 'The run of the function was cancelled.' },
  sandbox_unavailable: {
    'zh-CN':
      'Python 沙箱不可用：没有能用的容器引擎。函数不会在主机上直接运行。请管理员安装并启动 Docker，再用 knowhy doctor 查看原因。',
    'en-US':
      'Functions cannot run: there is no container engine that works, and they never run on the host itself. Ask the operator to install and start Docker; knowhy doctor says what is missing.',
  },
  sandbox_image_missing: {
    'zh-CN': 'Python 沙箱的镜像不在容器引擎上，系统不会自动下载。请管理员准备 kb.python.image 所指的镜像。',
    'en-US':
      'The image of the Python sandbox is not on the container engine, and nothing is pulled by itself. Ask the operator to provide the image of kb.python.image.',
  },
  sandbox_unsafe: {
    'zh-CN': '容器引擎没有通过安全检查，函数不会运行。请管理员用 knowhy doctor 查看原因。',
    'en-US':
      'The container engine did not pass the safety checks, so no function runs. Ask the operator to see what knowhy doctor says.',
  },
  sandbox_full: {
    'zh-CN': '容器引擎的磁盘或内存已用完，请管理员清理后重试。',
    'en-US': 'The container engine has no disk space or memory left. Ask the operator to free some, then try again.',
  },
  sandbox_busy: {
    'zh-CN': '正在运行的函数太多，请稍后再试。',
    'en-US': 'Too many functions are running; try again in a moment.',
  },
  sandbox_failed: {
    'zh-CN': '容器引擎在运行中断开，请重试。',
    'en-US': 'The container engine broke off during the run; try again.',
  },
  sandbox_closed: {
    'zh-CN': '服务正在停止，恢复后可以再次运行函数。',
    'en-US': 'The server is stopping; functions run again once it is back.',
  },
} as const;
