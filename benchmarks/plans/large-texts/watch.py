import re, resource, signal, subprocess, sys, time
# watch.py NAME SECONDS RESULTS COMMAND...: INT after so many seconds; samples of RssAnon and RssFile, and the largest
name, limit, out, *command = sys.argv[1:]
trace = open(f"{out}/{name}.rss", "w"); log = open(f"{out}/{name}.log", "w")
t = time.time(); p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
anon = file = peak = 0; sent = None; at = {}; n = 0
while p.poll() is None:
    now = time.time() - t
    if now > float(limit) and sent is None: sent = now; p.send_signal(signal.SIGINT)
    if sent is not None and now > sent + 6: p.kill()
    try: s = open(f"/proc/{p.pid}/status").read()
    except OSError: break
    g = lambda k: int((re.search(k + r":\s+(\d+)", s) or [0, 0])[1]) / 1e3 * 1.024
    a, f, h = g("RssAnon"), g("RssFile") + g("RssShmem"), g("VmHWM")
    if a > anon: anon, at["anon"] = a, now
    if f > file: file, at["file"] = f, now
    if h > peak: peak, at["peak"] = h, now
    if n % 10 == 0: trace.write(f"{now:.1f} anon {a:.0f} file {f:.0f} peak {h:.0f}\n")
    n += 1; time.sleep(0.05)
p.wait(); u = resource.getrusage(resource.RUSAGE_CHILDREN)
plan = re.findall(r"at most ([^,]*),", open(f"{out}/{name}.log").read())
line = f"PEAK {name}: {max(u.ru_maxrss*1.024e-3, peak):.0f} MB (anonymous {anon:.0f} at {at.get('anon',0):.0f} s, file {file:.0f} at {at.get('file',0):.0f} s, whole at {at.get('peak',0):.0f} s), plan at most {plan[-1:]}; rc {p.returncode}, {time.time()-t:.1f} s, user {u.ru_utime:.0f} s{', INT' if sent else ''}: {' '.join(command[1:])}"
print(line); open(f"{out}/table.txt", "a").write(line + "\n")
