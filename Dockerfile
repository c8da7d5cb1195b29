# The page as a container (docs/hosting.md):
#
#   docker build -t vauban .
#   docker run -p 8300:8300 -v vauban:/var/lib/vauban vauban
#
# TORCH_INDEX is where torch is taken from: its builds for CPUs are a tenth of those with CUDA. EXTRAS are what is
# installed beside the page: learn for networks; learn,ray for a cluster; with none ("") the scripted levels are left.

ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG EXTRAS=learn
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/vauban
ENV PATH=/opt/vauban/bin:$PATH
WORKDIR /build
COPY constraints.txt ./
RUN case ",$EXTRAS," in *,learn,*) pip install --index-url "$TORCH_INDEX" --extra-index-url https://pypi.org/simple -c constraints.txt torch ;; esac
COPY pyproject.toml setup.py README.md LICENSE ./
COPY src ./src
RUN pip install -c constraints.txt ".${EXTRAS:+[$EXTRAS]}"

FROM python:${PYTHON}-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/vauban --create-home vauban
COPY --from=build /opt/vauban /opt/vauban
# Games and compiled rules lie in the volume: the rules are compiled when they are first played, once for a machine.
ENV PATH=/opt/vauban/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VAUBAN_CACHE=/var/lib/vauban/cache
USER 10001
WORKDIR /var/lib/vauban
VOLUME /var/lib/vauban
EXPOSE 8300
HEALTHCHECK --interval=30s --timeout=10s --start-period=180s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8300/api/health', timeout=9)"]
# Ends in order: games are kept, and clocks go on when the server is there again.
STOPSIGNAL SIGTERM
ENTRYPOINT ["vauban"]
CMD ["play", "--no-browser", "--host", "0.0.0.0", "--shelf", "/var/lib/vauban/games.sqlite", "--log", "-"]
